// What the numbers of a universe are measured in, where it says so, and what that is in kilometres and kilograms.

import type { State, Star } from './model';
import { elementsOf } from './orbit';

const KILOMETRES: Record<string, number> = {
  m: 1e-3, km: 1, au: 149_597_870.7, ly: 9.4607304725808e12, pc: 3.085677581491367e13, earthRadius: 6371, jupiterRadius: 69_911, solarRadius: 695_700,
};
const KILOGRAMS: Record<string, number> = { kg: 1, earthMass: 5.9722e24, jupiterMass: 1.898125e27, solarMass: 1.98841e30 };
const WORDS: Record<string, string> = {
  earthRadius: 'Earths', jupiterRadius: 'Jupiters', solarRadius: 'Suns', earthMass: 'Earths', jupiterMass: 'Jupiters', solarMass: 'Suns',
};

export type Quantity = 'length' | 'mass' | 'radius';

/** What a number of this kind is followed by. */
export function unitOf(state: State, of: Quantity): string {
  const unit = state.units?.[of];
  return unit ? WORDS[unit] ?? unit : of === 'length' ? 'units' : '';
}

/** A number in kilometres or kilograms, or undefined where no unit is named. */
export function metric(state: State, of: Quantity, value: number): number | undefined {
  const by = (of === 'mass' ? KILOGRAMS : KILOMETRES)[state.units?.[of] ?? ''];
  return by === undefined ? undefined : by * value;
}

/** The radius of a body in the unit of lengths, or undefined where that is not known. */
export function radiusIn(state: State, star: Star): number | undefined {
  const length = KILOMETRES[state.units?.length ?? ''];
  const km = metric(state, 'radius', star.radius) ?? star.radiusKm;
  return typeof km === 'number' && Number.isFinite(km) ? Math.max(km, 0) / (length ?? KILOMETRES.au!) : undefined;
}

/** How far the middle of its orbit is: by elements, else by what the original says. */
export const axisOf = (star: Star): number | undefined => elementsOf(star)?.semiMajorAxis ?? star.semiMajorAxis ?? star.orbitalDistance;

const DIGITS = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });
/** A large number for people: `1,426,700,000` as `1.427 billion`. */
export function large(value: number): string {
  const size = Math.abs(value);
  for (const [word, by] of [['trillion', 1e12], ['billion', 1e9], ['million', 1e6]] as const) {
    if (size >= by && size < by * 1e3) return `${DIGITS.format(value / by)} ${word}`;
  }
  return size >= 1e15 || (size < 0.001 && size) ? value.toExponential(2).replace('e+', 'e') : DIGITS.format(value);
}
