// An orbit as it is seen from near: more points where it bends on the screen, so that it has no corners and goes through
// its body. Relative to the camera's target, in numbers that are exact there.

import type { Camera } from '../camera';
import type { Layout } from '../layout';
import type { Body } from '../model';
import { pointAtAngle } from '../orbit';

/** What a straight piece may be beside the curve, in pixels. */
const BESIDE = 0.3;
const BEGIN = 32, DEEPEST = 28, MOST = 6000;

/** Points of the orbit, three numbers each, into `out`; `from` is where its parent is, relative to the target. */
export function fineLine(body: Body, layout: Layout, from: readonly number[], camera: Camera, out: number[]): void {
  const b = camera.basis, eye = [-b[6]! * camera.distance, -b[7]! * camera.distance, -b[8]! * camera.distance];
  const least = camera.distance * 1e-3, p = new Float64Array(3);
  const at = (angle: number): number[] => {
    pointAtAngle(body.orbit, angle, p, 0);
    if (body.parent >= 0) layout.place(body.parent, p, 0); else layout.root(body, p, 0);
    return [p[0]! + from[0]!, p[1]! + from[1]!, p[2]! + from[2]!];
  };
  const far = (p: number[]) => Math.hypot(p[0]! - eye[0]!, p[1]! - eye[1]!, p[2]! - eye[2]!);
  const go = (a: number, pa: number[], b: number, pb: number[], depth: number): void => {
    const m = (a + b) / 2, pm = at(m);
    const bend = Math.hypot(pm[0]! - (pa[0]! + pb[0]!) / 2, pm[1]! - (pa[1]! + pb[1]!) / 2, pm[2]! - (pa[2]! + pb[2]!) / 2);
    const long = Math.hypot(pb[0]! - pa[0]!, pb[1]! - pa[1]!, pb[2]! - pa[2]!);
    const near = Math.max(Math.min(far(pa), far(pm), far(pb)) - long / 2, least);
    if (depth < DEEPEST && out.length < 3 * MOST && bend * camera.focal > BESIDE * near) {
      go(a, pa, m, pm, depth + 1);
      go(m, pm, b, pb, depth + 1);
    } else out.push(pb[0]!, pb[1]!, pb[2]!);
  };
  const turn = (n: number) => (2 * Math.PI * n) / BEGIN;
  let last = at(0);
  out.push(last[0]!, last[1]!, last[2]!);
  for (let n = 1; n <= BEGIN; n += 1) {
    const next = at(turn(n));
    go(turn(n - 1), last, turn(n), next, 0);
    last = next;
  }
}

/** Whether an orbit of so many pixels is drawn like this: what is small or round does with the points that it has. */
export const isFine = (body: Body, pixels: number, closed: boolean) =>
  closed && body.orbit.a > 0 && (pixels > 600 || (pixels > 60 && body.orbit.b < 0.7 * body.orbit.a));

/** How strongly an orbit of so many pixels is drawn: what goes far beyond the picture is not what one looks at. */
export const strength = ({ depth }: Body, pixels: number, { width }: Camera) =>
  (depth < 2 ? 0.4 : 0.28) * Math.min(1, Math.max(0.4, Math.sqrt((6 * width) / pixels)));
