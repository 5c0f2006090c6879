// The looks of bodies, made from their colours, sizes and ids: bands of giants, seas and clouds, craters, polar caps. No
// pictures of real surfaces.

import type { Body, State, World } from './model';
import { scatter } from './random';
import { type Rgb, mix } from './scene';
import { metric } from './units';

/** A surface by longitude (across) and latitude (down from the north pole), four bytes a point. */
export interface Skin { width: number; height: number; data: Uint8ClampedArray }

export type Kind = 'star' | 'giant' | 'sea' | 'rock';

/** What kind of surface a body has. */
export function kindOf(body: Body, world: World, color: Rgb): Kind {
  if (body.kind === 'star') return 'star';
  if (body.kind === 'moon' || (body.kind !== 'planet' && body.kind !== 'roguePlanet')) return 'rock';
  const km = metric(world.state, 'radius', body.star.radius);
  if (km === undefined ? body.star.radius > 2 * middling(world.state) : km > 16_000) return 'giant';
  return color[2] > color[0] * 1.25 && color[2] > color[1] * 1.1 ? 'sea' : 'rock';
}

const middles = new WeakMap<State, number>();
/** The radius that half of the planets have. */
function middling(state: State): number {
  let found = middles.get(state);
  if (found === undefined) {
    const all = Object.values(state.stars).filter((it) => it.bodyType === 'planet').map((it) => it.radius).sort((a, b) => a - b);
    middles.set(state, found = all[all.length >> 1] ?? 1);
  }
  return found;
}

/** Smooth noise in space from 0 to 1, of a seed. */
function noise(seed: string): (x: number, y: number, z: number, octaves: number) => number {
  const random = scatter(seed), table = Uint8Array.from({ length: 256 }, () => 256 * random());
  const at = (x: number, y: number, z: number) => table[(table[(table[x & 255]! + y) & 255]! + z * 7) & 255]! / 255;
  const one = (x: number, y: number, z: number) => {
    const [ix, iy, iz] = [Math.floor(x), Math.floor(y), Math.floor(z)];
    let [fx, fy, fz] = [x - ix, y - iy, z - iz];
    fx *= fx * (3 - 2 * fx); fy *= fy * (3 - 2 * fy); fz *= fz * (3 - 2 * fz);
    const row = (y: number, z: number) => at(ix, y, z) * (1 - fx) + at(ix + 1, y, z) * fx;
    return (row(iy, iz) * (1 - fy) + row(iy + 1, iz) * fy) * (1 - fz) + (row(iy, iz + 1) * (1 - fy) + row(iy + 1, iz + 1) * fy) * fz;
  };
  return (x, y, z, octaves) => {
    let sum = 0, size = 0.5;
    for (let n = 0; n < octaves; n += 1, size /= 2) {
      sum += size * one(x, y, z);
      x = x * 2.03 + 11.3; y = y * 2.03 + 5.7; z = z * 2.03 + 8.1;
    }
    return sum / (1 - size * 2 || 1);
  };
}

const step = (from: number, to: number, x: number) => { const t = Math.min(Math.max((x - from) / (to - from), 0), 1); return t * t * (3 - 2 * t); };
const WHITE: Rgb = [246, 248, 250];

/** The surface of a kind, a colour and a seed. */
export function skinOf(kind: Kind, color: Rgb, seed: string, width: number): Skin {
  const height = width / 2, data = new Uint8ClampedArray(4 * width * height);
  const noisy = noise(seed), paint = PAINTS[kind](color, seed, noisy);
  for (let row = 0; row < height; row += 1) {
    const latitude = Math.PI * (0.5 - (row + 0.5) / height), flat = Math.cos(latitude), north = Math.sin(latitude);
    for (let column = 0; column < width; column += 1) {
      const longitude = (2 * Math.PI * (column + 0.5)) / width;
      const found = paint(flat * Math.cos(longitude), flat * Math.sin(longitude), north);
      data.set([found[0], found[1], found[2], 255], 4 * (row * width + column));
    }
  }
  return { width, height, data };
}

type Noise = ReturnType<typeof noise>;
type Paint = (x: number, y: number, north: number) => Rgb;

const PAINTS: Record<Kind, (color: Rgb, seed: string, noisy: Noise) => Paint> = {
  star: (color, _, noisy) => (x, y, z) => mix(color, WHITE, 0.5 * noisy(9 * x, 9 * y, 9 * z, 3) - 0.15),
  giant: (color, seed, noisy) => {
    const random = scatter(seed), warm = step(-30, 60, color[0] - color[2]);
    // Pale giants have pale bands.
    const deep = 0.3 + 0.7 * step(215, 165, (color[0] + color[1] + color[2]) / 3 + 20);
    const [light, dark] = [mix(color, WHITE, 0.2 + 0.35 * warm), mix(color, [color[0] * 0.75, color[1] * 0.55, color[2] * 0.5], (0.25 + 0.65 * warm) * deep)];
    const many = 5 + 4 * random(), spot = 2 * Math.PI * random(), strong = 0.25 + 0.75 * warm;
    return (x, y, z) => {
      const stir = noisy(4 * x, 4 * y, 14 * z, 4) - 0.5;
      const band = noisy(0.5, 2, many * (z + 0.07 * stir * strong), 3);
      let found = mix(dark, light, step(0.32, 0.68, band + 0.16 * stir * strong));
      // One great storm, a little south of the equator, where colours are warm.
      const along = Math.atan2(y, x) - spot + Math.PI, round = Math.hypot(((along % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI) - Math.PI, (z + 0.37) * 2.2);
      if (warm > 0.6 && deep > 0.6) found = mix(found, [198, 104, 72], 0.75 * step(0.25, 0.14, round));
      return mix(found, mix(color, [90, 100, 120], 0.4), 0.35 * step(0.75, 1, Math.abs(z)));
    };
  },
  sea: (color, _, noisy) => (x, y, z) => {
    const land = noisy(1.7 * x + 3, 1.7 * y, 1.7 * z, 5), wet = noisy(3 * x, 3 * y + 7, 3 * z, 3);
    const ground = mix([86, 122, 62], [176, 152, 104], step(0.42, 0.6, wet + 0.12 * (0.5 - Math.abs(z))));
    let found = mix(mix(color, [14, 34, 84], 0.55), ground, step(0.515, 0.535, land));
    found = mix(found, WHITE, step(0.86, 0.92, Math.abs(z) + 0.12 * (wet - 0.5)));
    return mix(found, WHITE, 0.85 * step(0.53, 0.7, noisy(2.4 * x + 20, 2.4 * y, 5 * z, 5)));
  },
  rock: (color, seed, noisy) => {
    const random = scatter(seed), bright = (color[0] + color[1] + color[2]) / 765;
    const holes = Array.from({ length: 46 }, () => {
      const z = 2 * random() - 1, angle = 2 * Math.PI * random(), r = Math.sqrt(1 - z * z);
      return [r * Math.cos(angle), r * Math.sin(angle), z, 0.025 + 0.16 * random() ** 4] as const;
    });
    const reddish = color[0] > color[2] * 1.8, cloudy = color[0] > 215 && color[2] < 180 && color[1] > 180;
    return (x, y, z) => {
      if (cloudy) return mix(color, mix(color, WHITE, 0.55), step(0.3, 0.7, noisy(1.5 * x, 1.5 * y, 6 * z, 4)));
      const rough = noisy(2.2 * x, 2.2 * y, 2.2 * z, 5);
      let shade = 0.62 + 0.62 * rough - 0.22 * step(0.5, 0.62, noisy(1.2 * x + 9, 1.2 * y, 1.2 * z, 3));
      for (const [hx, hy, hz, size] of holes) {
        const far = (2 - 2 * (x * hx + y * hy + z * hz)) / (size * size), deep = 0.12 - 0.35 * size;
        // A floor, and a rim about it; the larger, the flatter.
        if (far < 1.8) shade += deep * (step(0.95, 1.2, far) * step(1.8, 1.2, far) - step(1.1, 0.6, far));
      }
      const found: Rgb = [color[0] * shade, color[1] * shade, color[2] * shade];
      return reddish && bright < 0.6 ? mix(found, WHITE, 0.9 * step(0.95, 0.975, Math.abs(z) + 0.05 * (rough - 0.5))) : found;
    };
  },
};
