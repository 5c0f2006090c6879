// What lies above the picture of either renderer: names, the mark of what is selected, tails of comets.

import type { Frame } from './draw/frame';
import { type Label, LINE, placed } from './labels';

const RANK: Record<string, number> = {
  star: 6, blackHole: 6, planet: 5, roguePlanet: 4, comet: 3, lagrangePoint: 1.5, moon: 2, asteroid: 1,
};
/** From how many pixels off its parent on a body is named. */
const FAR: Record<string, number> = { planet: 14, moon: 22, comet: 60, asteroid: 60, lagrangePoint: 70 };
/** The most candidates that are looked at, and the most names shown. */
const CANDIDATES = 400, MOST = 70;

export class Overlay {
  private readonly context: CanvasRenderingContext2D;
  private readonly widths = new Map<string, number>();

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d')!;
  }

  /** `taken` are places of the page's own, where no name can be. */
  draw(frame: Frame, labels: boolean, hovered: number, nebulae: { name: string; x: number; y: number; z: number }[], taken: DOMRect[]): void {
    const { context: c, canvas } = this;
    const { camera, ratio, dark } = frame;
    const sharp = Math.max(ratio, window.devicePixelRatio || 1);
    const [width, height] = [Math.round(camera.width * sharp), Math.round(camera.height * sharp)];
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    c.setTransform(sharp, 0, 0, sharp, 0, 0);
    c.clearRect(0, 0, camera.width, camera.height);
    c.font = '500 12px system-ui, sans-serif';
    c.textBaseline = 'middle';
    this.tails(frame);
    for (const [index, color] of [[hovered, frame.ink], [frame.selected, frame.accent]] as const) {
      const r = index >= 0 ? frame.screen[4 * index + 3]! : -1;
      if (r < 0) continue;
      c.strokeStyle = `rgb(${color.join()})`;
      c.lineWidth = 1.5;
      c.beginPath();
      c.arc(frame.screen[4 * index]!, frame.screen[4 * index + 1]!, Math.max(r + 5, 9), 0, 2 * Math.PI);
      c.stroke();
    }
    const candidates = this.candidates(frame, labels, hovered);
    if (labels) candidates.push(...this.regions(frame, nebulae));
    const discs = frame.seen.filter((index) => frame.screen[4 * index + 3]! > 5)
      .map((index): [number, number, number] => [frame.screen[4 * index]!, frame.screen[4 * index + 1]!, frame.screen[4 * index + 3]!]);
    const shown = placed(candidates, camera.width, camera.height, MOST, discs, taken);
    c.lineJoin = 'round';
    c.lineWidth = 3;
    c.strokeStyle = `rgba(${frame.ground.join()},0.85)`;
    for (const { index, x, y, text } of shown) {
      const strong = index === frame.selected || index === hovered;
      c.fillStyle = strong ? `rgb(${frame.ink.join()})` : `rgba(${frame.ink.join()},${dark ? 0.78 : 0.85})`;
      if (index === -2) c.fillStyle = `rgba(${frame.ink.join()},0.6)`;
      c.font = `${index === -2 ? 'italic ' : '500 '}12px system-ui, sans-serif`;
      c.strokeText(text, x, y + LINE / 2);
      c.fillText(text, x, y + LINE / 2);
    }
  }

  private candidates({ seen, screen, scene, camera, selected }: Frame, labels: boolean, hovered: number): Label[] {
    const { bodies } = scene.world;
    const found: { index: number; rank: number }[] = [];
    for (const index of seen) {
      const strong = index === selected || index === hovered;
      if (!labels && !strong) continue;
      const x = screen[4 * index]!, y = screen[4 * index + 1]!;
      if (x < 0 || y < 0 || x > camera.width || y > camera.height) continue;
      const body = bodies[index]!;
      let rank = (RANK[body.kind] ?? 1) + Math.min(screen[4 * index + 3]!, 40) / 20;
      if (strong) rank += 100;
      // A satellite is named once it stands off its parent.
      if (body.parent >= 0) {
        const away = Math.hypot(x - screen[4 * body.parent]!, y - screen[4 * body.parent + 1]!);
        if (away < (FAR[body.kind] ?? 14) && !strong) continue;
        rank += Math.min(away, 300) / 300;
      }
      found.push({ index, rank });
    }
    found.sort((a, b) => b.rank - a.rank);
    return found.slice(0, CANDIDATES).map(({ index, rank }) => {
      const text = bodies[index]!.star.name || bodies[index]!.star.id;
      return {
        index, rank, text, width: this.width(text),
        x: screen[4 * index]!, y: screen[4 * index + 1]!, gap: Math.max(screen[4 * index + 3]!, 3) + 5,
      };
    });
  }

  private width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size > 5000) this.widths.clear();
      width = this.context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  /** Names of nebulae, after those of bodies. */
  private regions({ camera }: Frame, nebulae: { name: string; x: number; y: number; z: number }[]): Label[] {
    const p = new Float64Array(3);
    return nebulae.slice(0, 20).flatMap(({ name, x, y, z }) => {
      if (!camera.project(x, y, z, p)) return [];
      const width = this.width(name);
      return [{ index: -2, rank: 0, text: name, width, x: p[0]! - width / 2 - 4, y: p[1]!, gap: 4 }];
    });
  }

  private tails({ scene, screen, seen }: Frame): void {
    const { context: c } = this;
    for (const index of seen) {
      const body = scene.world.bodies[index]!;
      if (!body.star.comet?.hasTail || body.parent < 0) continue;
      const [x, y, r] = [screen[4 * index]!, screen[4 * index + 1]!, screen[4 * index + 3]!];
      const [dx, dy] = [x - screen[4 * body.parent]!, y - screen[4 * body.parent + 1]!];
      const far = Math.hypot(dx, dy);
      if (far < 8) continue;
      const long = Math.min(16 + r * 6, far * 0.5);
      const [tx, ty] = [x + (dx / far) * long, y + (dy / far) * long];
      const fade = c.createLinearGradient(x, y, tx, ty);
      const color = scene.colors[index]!.join();
      fade.addColorStop(0, `rgba(${color},0.8)`);
      fade.addColorStop(1, `rgba(${color},0)`);
      c.strokeStyle = fade;
      c.lineWidth = Math.max(r, 1.5);
      c.beginPath();
      c.moveTo(x, y);
      c.lineTo(tx, ty);
      c.stroke();
    }
  }
}
