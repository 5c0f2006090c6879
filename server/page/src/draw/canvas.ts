// Draws on a plain canvas: where there is no GPU this is several times quicker than WebGL on the processor.

import { LANES, type Grains, type Lines, type Rgb, mix, rgb } from '../scene';
import { fineLine, isFine, strength } from './fine';
import { type Frame, type Renderer, halo, nearness, offset, starlight, visible } from './frame';
import { Globes, diskColors, lightOn, ringColor } from './globes';
import { densityOf, partsOf, shadeAt } from './rings';
import { CLASSES, sky } from './sky';

const css = (color: Rgb, alpha = 1) =>
  `rgba(${color[0] | 0},${color[1] | 0},${color[2] | 0},${alpha})`;

/** The most points of orbits of one picture with all detail. */
const MAX_POINTS = 40_000;

export class CanvasRenderer implements Renderer {
  readonly name = 'canvas';
  readonly grains = 20_000;
  private readonly context: CanvasRenderingContext2D;
  private readonly p = new Float64Array(3);
  private readonly globes = new Globes();

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', { alpha: false })!;
  }

  dispose(): void { /* Nothing is held outside of the page's memory. */ }

  draw(frame: Frame): void {
    const { context: c, canvas } = this;
    const { camera, ratio } = frame;
    const [width, height] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.globalAlpha = 1;
    c.fillStyle = css(frame.ground);
    c.fillRect(0, 0, camera.width, camera.height);
    if (frame.dark) this.stars(frame);
    this.puffs(frame);
    for (const grains of frame.scene.grains) this.matter(frame, grains);
    if (frame.orbits) this.orbits(frame);
    this.bodies(frame);
  }

  private stars({ camera: { basis: b, focal, width, height } }: Frame): void {
    const { context: c } = this;
    CLASSES.forEach(({ alpha, size }, at) => {
      c.fillStyle = `rgba(214,224,255,${alpha})`;
      const all = sky[at]!;
      for (let n = 0; n < all.length; n += 3) {
        const [x, y, z] = [all[n]!, all[n + 1]!, all[n + 2]!];
        const depth = b[6]! * x + b[7]! * y + b[8]! * z;
        if (depth < 0.2) continue;
        const scale = focal / depth, sx = width / 2 + (b[0]! * x + b[1]! * y + b[2]! * z) * scale, sy = height / 2 - (b[3]! * x + b[4]! * y + b[5]! * z) * scale;
        if (sx > 0 && sx < width && sy > 0 && sy < height) c.fillRect(sx, sy, size, size);
      }
    });
  }

  private puffs({ scene, camera, dark }: Frame): void {
    const { context: c, p } = this;
    for (const puff of scene.puffs) {
      if (!camera.project(puff.x, puff.y, puff.z, p)) continue;
      const radius = (puff.radius * camera.focal) / p[2]!;
      if (radius < 1 || radius > 6000) continue;
      const color = visible(puff.color, dark);
      const glow = c.createRadialGradient(p[0]!, p[1]!, 0, p[0]!, p[1]!, radius);
      const alpha = puff.alpha * nearness(radius, camera.width);
      glow.addColorStop(0, css(color, alpha * 0.8));
      glow.addColorStop(0.5, css(color, alpha * 0.3));
      glow.addColorStop(1, css(color, 0));
      c.fillStyle = glow;
      c.fillRect(p[0]! - radius, p[1]! - radius, 2 * radius, 2 * radius);
    }
  }

  private matter(frame: Frame, it: Grains): void {
    const { context: c, p } = this, { camera, time, detail, dark } = frame;
    const [hx, hy, hz] = offset(frame, it.host);
    if (!camera.projectRelative(hx, hy, hz, p) && camera.distance > it.outer * 2) return;
    const size = (it.outer * camera.focal) / Math.max(p[2]!, it.outer * 0.5);
    if (size < 4) return;
    const turns = Array.from({ length: LANES }, (_, lane) => {
      const angle = (((time * it.speeds[lane]!) % 360) * Math.PI) / 180;
      return [Math.cos(angle), Math.sin(angle)] as const;
    });
    const count = Math.min(it.count, Math.ceil(it.count * detail * Math.min(1, (size / 300) ** 2 + 0.02)));
    const dot = dark ? 1 : 1.2;
    const half = count >> 1;
    for (const [color, from, to] of [[it.colors[0], 0, half], [it.colors[1], half, count]] as const) {
      c.fillStyle = css(visible(color, dark), it.opacity * (it.isDisk ? 0.5 : 0.75));
      for (let n = from; n < to; n += 1) {
        const x = it.grains[4 * n]!, z = it.grains[4 * n + 2]!;
        const [cos, sin] = turns[it.grains[4 * n + 3]!]!;
        if (camera.projectRelative(hx + x * cos - z * sin, hy + it.grains[4 * n + 1]!, hz + x * sin + z * cos, p)) {
          c.fillRect(p[0]!, p[1]!, dot, dot);
        }
      }
    }
  }

  private orbits(frame: Frame): void {
    const { scene, camera, places, screen, detail, dark, selected, accent, ink } = frame;
    const { context: c, p } = this;
    const paths = new Map<string, Path2D>();
    let left = MAX_POINTS * detail;
    c.lineWidth = 1;
    for (const { parent, points, parts, reach } of scene.lines) {
      const at = 3 * parent;
      const [ox, oy, oz] = parent < 0 ? [0, 0, 0] : [places[at]!, places[at + 1]!, places[at + 2]!];
      if (parent >= 0) {
        const depth = screen[4 * parent + 2]!;
        if (depth > 0 && (reach * camera.focal) / depth < 6) continue;
      }
      for (const part of parts) {
        const pixels = (part.reach * camera.focal) / Math.max(parent < 0 ? camera.distance : screen[4 * parent + 2]!, part.reach * 0.3);
        if (pixels < 5 || left < 0) continue;
        const mine = part.body.index === selected;
        const stride = mine ? 1 : Math.max(1, Math.round((part.count - 1) / Math.min(part.count - 1, Math.max(24, pixels))));
        left -= part.count / stride;
        const alpha = mine ? 0.95 : Number(strength(part.body, pixels, camera).toFixed(2));
        const key = mine ? css(accent, alpha) : css(mix(visible(part.color, dark), ink, dark ? 0.15 : 0.25), alpha);
        let path = paths.get(key);
        if (!path) paths.set(key, (path = new Path2D()));
        if (isFine(part.body, pixels, part.closed)) { this.fine(frame, part, [ox, oy, oz], path); continue; }
        let drawing = false;
        for (let n = 0; n < part.count; n += stride) {
          const from = 3 * (part.start + Math.min(n, part.count - 1));
          const ahead = camera.project(points[from]! + ox, points[from + 1]! + oy, points[from + 2]! + oz, p);
          if (ahead && drawing) path.lineTo(p[0]!, p[1]!); else if (ahead) path.moveTo(p[0]!, p[1]!);
          drawing = ahead;
        }
        const first = 3 * part.start;
        if (drawing && part.closed && camera.project(points[first]! + ox, points[first + 1]! + oy, points[first + 2]! + oz, p)) path.lineTo(p[0]!, p[1]!);
      }
    }
    for (const [color, path] of paths) {
      c.strokeStyle = color;
      c.stroke(path);
    }
  }

  private fine({ scene, camera }: Frame, { body }: Lines['parts'][number], [ox, oy, oz]: number[], path: Path2D): void {
    const { p } = this, [tx, ty, tz] = camera.target as [number, number, number], points: number[] = [];
    fineLine(body, scene.layout, [ox! - tx, oy! - ty, oz! - tz], camera, points);
    let drawing = false;
    for (let n = 0; n < points.length; n += 3) {
      const ahead = camera.projectRelative(points[n]!, points[n + 1]!, points[n + 2]!, p);
      if (ahead && drawing) path.lineTo(p[0]!, p[1]!); else if (ahead) path.moveTo(p[0]!, p[1]!);
      drawing = ahead;
    }
  }

  private bodies(frame: Frame): void {
    const { context: c } = this;
    const { scene, screen, dark, ink } = frame;
    for (const index of frame.seen) {
      const body = scene.world.bodies[index]!;
      const [x, y, r] = [screen[4 * index]!, screen[4 * index + 1]!, screen[4 * index + 3]!];
      const own = scene.colors[index]!;
      // What is large has an outline, so that its own colour will do.
      const color = body.kind === 'star' ? starlight(own, dark) : r > 3 ? own : visible(own, dark);
      if (body.kind === 'lagrangePoint') {
        c.strokeStyle = css(color, 0.8);
        c.beginPath();
        c.moveTo(x - 4, y); c.lineTo(x + 4, y); c.moveTo(x, y - 4); c.lineTo(x, y + 4);
        c.stroke();
      } else if (body.kind === 'blackHole') {
        this.blackHole(frame, index, x, y, r);
      } else {
        if (body.kind === 'star') this.glow(x, y, r, scene.colors[index]!, dark);
        const ring = body.star.ring && r > 2.5;
        if (ring) this.ring(frame, index, false);
        this.ball(frame, index, x, y, r, color);
        if (ring) this.ring(frame, index, true);
      }
      if (!dark && r > 3 && body.kind !== 'lagrangePoint') {
        c.strokeStyle = css(ink, 0.35);
        c.beginPath();
        c.arc(x, y, r, 0, 2 * Math.PI);
        c.stroke();
      }
    }
  }

  private ball(frame: Frame, index: number, x: number, y: number, r: number, color: Rgb): void {
    const { context: c } = this;
    c.fillStyle = css(color);
    if (r * frame.ratio < 1.7) {
      c.fillRect(x - r * 0.85, y - r * 0.85, r * 1.7, r * 1.7);
      return;
    }
    if (r > frame.surface && r < 4000 && this.globes.draw(c, frame, index, x, y, r)) return;
    c.beginPath();
    c.arc(x, y, r, 0, 2 * Math.PI);
    c.fill();
  }

  private glow(x: number, y: number, r: number, color: Rgb, dark: boolean): void {
    const { context: c } = this;
    const reach = Math.min(r * 3.2 + 4, 1500);
    const glow = c.createRadialGradient(x, y, r * 0.7, x, y, reach);
    const soft = halo(color, dark);
    glow.addColorStop(0, css(soft, dark ? 0.5 : 0.4));
    glow.addColorStop(0.4, css(soft, 0.12));
    glow.addColorStop(1, css(soft, 0));
    c.fillStyle = glow;
    c.fillRect(x - reach, y - reach, 2 * reach, 2 * reach);
  }

  /** The half of a ring behind its planet, or that in front. */
  private ring(frame: Frame, index: number, front: boolean): void {
    const { scene, dark } = frame;
    const { star } = scene.world.bodies[index]!, ring = star.ring!;
    const radius = scene.layout.radius[index]!, wide = ring.outerRadiusMultiplier - ring.innerRadiusMultiplier;
    const color = visible(ringColor(rgb(ring.color), ring), dark), density = densityOf(ring);
    for (const { from, to, alpha } of partsOf(star.id, ring)) {
      this.annulus(frame, index, radius * (ring.innerRadiusMultiplier + wide * from), radius * (ring.innerRadiusMultiplier + wide * to),
        css(color, Math.min(1, density * alpha)), front);
    }
    this.shade(frame, index, front);
  }

  /** The shadow that a planet casts on its ring. */
  private shade(frame: Frame, index: number, front: boolean): void {
    const { context: c, p } = this, { scene, camera } = frame;
    const { disk, star: { ring } } = scene.world.bodies[index]!, light = lightOn(frame, index), own = scene.layout.radius[index]!;
    if (!light || frame.screen[4 * index + 3]! < frame.surface) return;
    const { innerRadiusMultiplier: inner, outerRadiusMultiplier: outer } = ring!, edge: [number, number][] = [];
    // It ends with the ring, or where light passes the planet's poles.
    const end = Math.min(outer, 1 / Math.abs(light[2]));
    for (let n = 0; n <= 16; n += 1) {
      const r = inner + (end - inner) * (1 - (1 - n / 16) ** 2), half = shadeAt(r, light);
      edge.push([r, half]);
      edge.unshift([r, -half]);
      if (n === 16) edge.push([r / Math.cos(half), 0]);
    }
    c.save();
    if (end > inner && this.half(frame, index, own * inner, own * outer, front)) {
      c.clip();
      c.beginPath();
      const [ox, oy, oz] = offset(frame, index), away = Math.atan2(-light[1], -light[0]);
      for (const [r, angle] of edge) {
        const u = own * r * Math.cos(away + angle), v = own * r * Math.sin(away + angle);
        if (camera.projectRelative(ox + disk.ux * u + disk.vx * v, oy + disk.uy * u + disk.vy * v, oz + disk.uz * u + disk.vz * v, p)) c.lineTo(p[0]!, p[1]!);
      }
      c.fillStyle = frame.dark ? css(frame.ground, 0.9) : css([0, 0, 0], 0.4);
      c.fill();
    }
    c.restore();
  }

  private annulus(frame: Frame, index: number, inner: number, outer: number, fill: string, front: boolean): void {
    this.context.fillStyle = fill;
    if (this.half(frame, index, inner, outer, front)) this.context.fill();
  }

  /** A path about half of a flat ring, if all of it is before the eye. */
  private half(frame: Frame, index: number, inner: number, outer: number, front: boolean): boolean {
    const { scene, camera } = frame;
    const { context: c, p } = this;
    const { disk } = scene.world.bodies[index]!, [ox, oy, oz] = offset(frame, index);
    // The angle at which the ring is furthest away.
    const b = camera.basis;
    const away = Math.atan2(b[6]! * disk.vx + b[7]! * disk.vy + b[8]! * disk.vz, b[6]! * disk.ux + b[7]! * disk.uy + b[8]! * disk.uz);
    const steps = frame.screen[4 * index + 3]! > 60 ? 96 : 32;
    c.beginPath();
    for (const [radius, way] of [[outer, 1], [inner, -1]] as const) {
      for (let step = 0; step <= steps; step += 1) {
        const angle = away + (front ? Math.PI : 0) + way * (-Math.PI / 2 + (Math.PI * step) / steps);
        const [u, v] = [radius * Math.cos(angle), radius * Math.sin(angle)];
        if (!camera.projectRelative(ox + disk.ux * u + disk.vx * v, oy + disk.uy * u + disk.vy * v, oz + disk.uz * u + disk.vz * v, p)) return false;
        if (step === 0 && way === 1) c.moveTo(p[0]!, p[1]!); else c.lineTo(p[0]!, p[1]!);
      }
    }
    return true;
  }

  private blackHole(frame: Frame, index: number, x: number, y: number, r: number): void {
    const { context: c } = this;
    const { scene } = frame;
    const radius = scene.layout.radius[index]!;
    const { star } = scene.world.bodies[index]!, [warm, outer] = diskColors(star);
    const rings: [number, number, Rgb, number][] = [[1.3, 1.9, warm, 0.9], [1.9, 2.7, mix(warm, outer, 0.6), 0.55], [2.7, 3.5, outer, 0.25]];
    const disk = star.blackHole?.hasAccretionDisk !== false && r > 2;
    if (disk) for (const [a, b, color, alpha] of rings) this.annulus(frame, index, radius * a, radius * b, css(color, alpha), false);
    c.fillStyle = '#000';
    c.beginPath();
    c.arc(x, y, r, 0, 2 * Math.PI);
    c.fill();
    c.strokeStyle = css(warm, 0.9);
    c.lineWidth = Math.max(1, r * 0.1);
    c.stroke();
    c.lineWidth = 1;
    if (disk) for (const [a, b, color, alpha] of rings) this.annulus(frame, index, radius * a, radius * b, css(color, alpha), true);
  }
}
