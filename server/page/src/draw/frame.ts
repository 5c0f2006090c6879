// What a renderer is given for one picture, and what it is.

import type { Camera } from '../camera';
import { type Rgb, type Scene, mix } from '../scene';

export interface Frame {
  scene: Scene; camera: Camera; time: number;
  /** Where bodies are on the stage, three numbers each. */
  places: Float64Array;
  /** On the screen: x, y, depth and radius in pixels each; a radius below zero is not seen. */
  screen: Float64Array;
  /** Bodies that are seen, the furthest first. */
  seen: number[];
  /** 1 is all detail, less is less. */
  detail: number;
  /** Seconds of simulation in a second of ours, 0 while time stands. */
  pace: number;
  dark: boolean; orbits: boolean; selected: number;
  /** The least radius in pixels of a body that shows its surface: the largest of them do. */
  surface: number;
  /** Whether nothing moves: then there is time to draw well. */
  calm: boolean;
  accent: Rgb; ink: Rgb; ground: Rgb;
  /** Device pixels of a pixel. */
  ratio: number;
}

export interface Renderer {
  readonly name: string;
  /** The most grains that it draws with ease. */
  readonly grains: number;
  draw(frame: Frame): void;
  dispose(): void;
}

/** Where a body is, relative to the camera's target; −1 is space. */
export function offset({ places, camera: { target: t } }: Frame, body: number): [number, number, number] {
  const [x, y, z] = body < 0 ? [0, 0, 0] : places.subarray(3 * body, 3 * body + 3);
  return [x! - t[0]!, y! - t[1]!, z! - t[2]!];
}

/** How much of a cloud is seen: it fades when the eye is in it, so that it does not cover all else. */
export const nearness = (radius: number, width: number) => Math.min(1, Math.max(0.15, 1.6 - radius / width));

/** The colour of a star on the ground: white ones need more yellow on a light one. */
export function starlight(color: Rgb, dark: boolean): Rgb {
  return dark ? color : [color[0] * 0.45 + 132, color[1] * 0.45 + 94, color[2] * 0.45 + 16];
}

/** The colour of what is about a star, on a light ground also of a white one. */
export const halo = (color: Rgb, dark: boolean): Rgb => (dark ? color : mix(color, [240, 170, 40], 0.6));

/** A colour that can be seen on the ground: on a light one, darker. */
export function visible(color: Rgb, dark: boolean): Rgb {
  if (dark) return color;
  const light = (0.3 * color[0] + 0.59 * color[1] + 0.11 * color[2]) / 255;
  const by = light > 0.55 ? 1 - (light - 0.55) * 1.1 : 1;
  return [color[0] * by, color[1] * by, color[2] * by];
}

/** The smallest radius of a dot in pixels: rank shows where size does not. */
export function least(kind: string): number {
  if (kind === 'star' || kind === 'blackHole') return 3;
  return kind === 'planet' || kind === 'roguePlanet' ? 2 : 1.3;
}
