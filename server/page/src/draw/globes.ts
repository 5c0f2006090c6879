// Bodies that are large enough to have a surface: how they lie, where their light comes from, and a picture of them for
// the plain canvas. The GPU paints the same by its own program.

import { type Body, type Ring, type Star, sunOf } from '../model';
import { type Rgb, rgb } from '../scene';
import { type Skin, kindOf, skinOf } from '../skin';
import { type Frame, starlight } from './frame';
import { STEPS, profileOf } from './rings';

/** Bodies with fewer pixels of radius are plain. */
const LEAST = 5;
/** The most bodies of a picture that show their surface. */
const LARGEST = 40;

/** The radius in pixels from which bodies show their surface. */
export function surfaceFrom(seen: number[], screen: Float64Array): number {
  const large = seen.map((index) => screen[4 * index + 3]!).filter((r) => r > LEAST);
  return large.length > LARGEST ? large.sort((a, b) => b - a)[LARGEST]! : LEAST;
}

/** What a map has under a key, which is its newest then: the first of it is what was not used for longest. */
export function used<K, V>(map: Map<K, V>, key: K): V | undefined {
  const value = map.get(key);
  if (value !== undefined) { map.delete(key); map.set(key, value); }
  return value;
}
/** Keeps a value under a key; of more than so many the one goes that was not used for longest, and is returned. */
export function keep<K, V>(map: Map<K, V>, key: K, value: V, most: number): V | undefined {
  const [oldest] = map.size < most ? [] : map.keys(), gone = oldest === undefined ? undefined : map.get(oldest);
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
  return gone;
}
/** How much of its light the night side has. */
export const night = (dark: boolean) => (dark ? 0.09 : 0.3);

export interface Globe {
  skin: Skin;
  /** Turns what the eye sees (right, up, towards it) into the body's own x, y and north, by rows. */
  turn: Float32Array;
  /** Where the light comes from, in the body's own directions; nothing for what shines itself. */
  light: Way | null;
  /** The ring's shadow: from and to in radii, and its density across. */
  ring: { inner: number; outer: number; profile: Float32Array } | null;
}

const skins = new Map<string, Skin>();
/** The most surfaces that are kept: more than a picture shows, in several sizes. */
const MOST = 3 * LARGEST;
/** Surfaces are made one in a picture, so that none takes long: whether this picture has made its own. */
let made: Frame | null = null;

function skinFor(frame: Frame, index: number): Skin | null {
  const { scene } = frame;
  const body = scene.world.bodies[index]!, own = scene.colors[index]!;
  const color = body.kind === 'star' ? starlight(own, frame.dark) : own;
  const r = frame.screen[4 * index + 3]!, width = r > 110 ? 512 : r > 24 ? 256 : 128, base = `${body.star.id} ${color.join()} `;
  const key = base + width;
  let skin = used(skins, key);
  if (skin) return skin;
  const other = [512, 256, 128].map((it) => used(skins, base + it)).find(Boolean) ?? null;
  if (made === frame) return other;
  made = frame;
  skin = skinOf(kindOf(body, scene.world, color), color, body.star.id, width);
  keep(skins, key, skin, MOST);
  return skin;
}

/** Whether surfaces are still to be made. */
export const isMaking = (frame: Frame) => made === frame;

/** The body's own directions once it has turned so far: x and y in its equator, and its north. */
function axesOf({ disk: { ux, uy, uz, vx, vy, vz } }: Body, turn = 0): [Way, Way, Way] {
  const c = Math.cos(turn), s = Math.sin(turn);
  return [[ux * c + vx * s, uy * c + vy * s, uz * c + vz * s], [vx * c - ux * s, vy * c - uy * s, vz * c - uz * s], [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx]];
}
type Way = [number, number, number];

/** The most turns in a second that are shown: what turns faster would flicker, and is shown as it is at time 0. */
const MOST_TURNS = 1.2;

/** How far a body has turned about its axis, radians. A moon whose own turn is not known shows its planet the same side. */
export function turnOf({ scene: { world }, places, time, pace }: Frame, index: number): number {
  const body = world.bodies[index]!, { rotationPeriod: period } = body.star, [u, v] = axesOf(body);
  if (typeof period === 'number' && period > 0) return pace > MOST_TURNS * period ? 0 : 2 * Math.PI * ((time / period) % 1);
  if (body.kind !== 'moon' || body.parent < 0) return 0;
  const [x, y, z] = [0, 1, 2].map((n) => places[3 * body.parent + n]! - places[3 * index + n]!) as Way;
  return Math.atan2(v[0] * x + v[1] * y + v[2] * z, u[0] * x + u[1] * y + u[2] * z);
}

/** Where a body's light comes from, in its own directions; null for what shines itself. */
export function lightOn({ scene: { world }, places }: Frame, index: number, turn = 0): Way | null {
  const body = world.bodies[index]!, sun = sunOf(world, body);
  if (sun < 0) return null;
  const [x, y, z] = [0, 1, 2].map((n) => places[3 * sun + n]! - places[3 * index + n]!) as Way, far = Math.hypot(x, y, z) || 1;
  return axesOf(body, turn).map((it) => (it[0] * x + it[1] * y + it[2] * z) / far) as Way;
}

/** A body as a globe; null while its surface is not made yet. */
export function globeOf(frame: Frame, index: number): Globe | null {
  const { scene: { world }, camera: { basis: b } } = frame, body = world.bodies[index]!;
  const skin = skinFor(frame, index), turned = turnOf(frame, index), light = lightOn(frame, index, turned);
  if (!skin) return null;
  const turn = new Float32Array(9);
  axesOf(body, turned).forEach(([x, y, z], row) => {
    for (let n = 0; n < 3; n += 1) turn[3 * row + n] = (n < 2 ? 1 : -1) * (b[3 * n]! * x + b[3 * n + 1]! * y + b[3 * n + 2]! * z);
  });
  return { skin, turn, light, ring: body.star.ring && light ? shadowOf(body.star.id, body.star.ring) : null };
}

const shadowOf = (id: string, ring: Ring) =>
  ({ inner: ring.innerRadiusMultiplier, outer: ring.outerRadiusMultiplier, profile: profileOf(id, ring) });

/** Pictures of globes, each kept as long as nothing of it changes. */
export class Globes {
  private readonly kept = new Map<number, { canvas: HTMLCanvasElement; key: string }>();

  /** Draws a body where it is, if its surface is there. */
  draw(c: CanvasRenderingContext2D, frame: Frame, index: number, x: number, y: number, r: number): boolean {
    const globe = globeOf(frame, index);
    if (!globe) return false;
    const most = frame.detail < 1 ? 72 : frame.calm ? 240 : 120, size = Math.max(8, Math.ceil(Math.min(r * frame.ratio, most)) + 1);
    const of = (it: ArrayLike<number> | null) => (it ? Array.from(it, (x) => Math.round(x * 300)).join() : '');
    const key = `${size} ${globe.skin.width} ${frame.dark} ${frame.scene.colors[index]!.join()} ${of(globe.turn)} ${of(globe.light)} ${globe.ring?.outer}`;
    let kept = used(this.kept, index);
    if (kept?.key !== key) {
      if (!kept) keep(this.kept, index, kept = { canvas: document.createElement('canvas'), key }, 48);
      kept.key = key;
      kept.canvas.width = kept.canvas.height = 2 * size;
      paint(kept.canvas.getContext('2d')!, size, globe, night(frame.dark));
    }
    const edge = (r * size) / (size - 1);
    c.drawImage(kept.canvas, x - edge, y - edge, 2 * edge, 2 * edge);
    return true;
  }
}

/** Paints a globe into a square of twice this size; one pixel is left about it. */
function paint(c: CanvasRenderingContext2D, size: number, { skin, turn, light, ring }: Globe, night: number): void {
  const image = c.createImageData(2 * size, 2 * size), { data } = image, r = size - 1;
  const map = skin.data, around = skin.width / (2 * Math.PI), down = skin.height / Math.PI;
  const scale = ring ? STEPS / (ring.outer - ring.inner) : 0, blur = (0.25 * scale) / (r * Math.abs(light?.[2] || 1));
  for (let row = 0; row < 2 * size; row += 1) {
    const y = (size - row - 0.5) / r;
    for (let column = 0; column < 2 * size; column += 1) {
      const x = (column + 0.5 - size) / r, d = x * x + y * y;
      const cover = Math.min(1, (1 - Math.sqrt(d)) * r + 0.5);
      if (cover <= 0) continue;
      const z = Math.sqrt(Math.max(1 - d, 0));
      const p = turn[0]! * x + turn[1]! * y + turn[2]! * z, q = turn[3]! * x + turn[4]! * y + turn[5]! * z, n = turn[6]! * x + turn[7]! * y + turn[8]! * z;
      const longitude = Math.atan2(q, p), latitude = Math.acos(n > 1 ? 1 : n < -1 ? -1 : n);
      // Between the four nearest points of the map; it goes on round its longitude.
      const u = (longitude < 0 ? longitude + 2 * Math.PI : longitude) * around + skin.width - 0.5, v = Math.max(latitude * down - 0.5, 0);
      const fu = u % 1, fv = v % 1, left = 4 * ((u | 0) % skin.width), right = 4 * (((u | 0) + 1) % skin.width);
      const top = 4 * (v | 0) * skin.width, bottom = 4 * Math.min((v | 0) + 1, skin.height - 1) * skin.width;
      let lit = 0.72 + 0.28 * z;
      if (light) {
        const facing = p * light[0] + q * light[1] + n * light[2];
        lit = facing > 0 ? 1 - (1 - facing) ** 2 * 0.9 : 0;
        if (ring && lit > 0 && n * light[2] < 0) {
          const t = -n / light[2], across = (Math.hypot(p + t * light[0], q + t * light[1]) - ring.inner) * scale;
          // A pixel has several parts of the ring above it where the light is low.
          let dense = 0;
          for (let at = across - 2 * blur, k = 0; k < 5; k += 1, at += blur) if (at >= 0 && at < STEPS) dense += ring.profile[at | 0]!;
          lit *= 1 - 0.15 * dense;
        }
        lit = night + (1 - night) * lit;
      }
      const to = 4 * (row * 2 * size + column);
      for (let n = 0; n < 3; n += 1) {
        const above = map[top + left + n]! * (1 - fu) + map[top + right + n]! * fu, below = map[bottom + left + n]! * (1 - fu) + map[bottom + right + n]! * fu;
        data[to + n] = (above * (1 - fv) + below * fv) * lit;
      }
      data[to + 3] = 255 * cover;
    }
  }
  c.putImageData(image, 0, 0);
}

/** The colours of a black hole's disk, within and without. */
export const diskColors = ({ blackHole: it }: Star): [Rgb, Rgb] => [rgb(it?.diskInnerColor ?? '#ffc478'), rgb(it?.diskOuterColor ?? '#d26028')];

/** How a ring's colour is seen: its own, brightened by what it throws back. */
export const ringColor = (color: Rgb, ring: Ring): Rgb => {
  const by = Math.min(1, 0.5 + (ring.albedo ?? 0.8));
  return [color[0] * by, color[1] * by, color[2] * by];
};
