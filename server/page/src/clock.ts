// The time that is looked at: it follows the universe's time, or goes its own way. Looking changes nothing on the server.

import { signal } from '@preact/signals';
import { dateOf, epochOf } from './dates';
import type { Universe } from './api';
import type { World } from './model';
import { period } from './orbit';

/** The time shown, in seconds of simulation. */
export const shown = signal(0);
export const playing = signal(false);
/** Whether the time shown is that of the universe. */
export const attached = signal(true);
/** Seconds of simulation in a second of ours. */
export const speed = signal(1);
/** The date of time 0 in milliseconds, or null in a universe without dates. */
export const epoch = signal<number | null>(null);
/** Whether today is shown because nobody chose a time: then the universe's own time is shown once somebody moves it. */
export let unasked = false;

const SLOWLY = 86_400;
/** How far the time of a universe and the moment at which it was made may be apart where the one was taken from the other, in
 * seconds: making it takes a while, and a database has a clock of its own. */
const AT_ONCE = 60;

/**
 * Begins with a universe: today, where it has dates and nobody moved it, and slowly going on; else at its own time. One
 * that nobody moved is at time 0, or at the time at which it was made. What is `still` does not go on by itself.
 */
export function begin({ state, createdAt }: Universe, world: World | null, still: boolean): void {
  epoch.value = epochOf(state.epoch);
  attach(state.time);
  speed.value = epoch.value !== null ? SLOWLY : world ? fittingSpeed(world) : 1;
  if (epoch.value === null) return;
  const made = (Date.parse(createdAt) - epoch.value) / 1000;
  if (state.time !== 0 && !(Math.abs(state.time - made) < AT_ONCE)) return;
  jump(today());
  unasked = true;
  playing.value = !still;
}

/** The time of now. Without dates there is none. */
export const today = () => (Date.now() - (epoch.value ?? NaN)) / 1000;
/** A time as a date where there are dates, else as a span. */
export const told = (time: number) => dateOf(time, epoch.value) ?? span(time);

/** Lets so many real seconds pass. */
export function pass(seconds: number): void {
  if (playing.value) shown.value += seconds * speed.value;
}

export function play(on: boolean): void {
  if (!on) unasked = false;
  playing.value = on;
  if (on) attached.value = false;
}

export function jump(time: number): void {
  if (!Number.isFinite(time)) return;
  unasked = false;
  attached.value = false;
  shown.value = time;
}

export function attach(time: number): void {
  unasked = false;
  playing.value = false;
  attached.value = true;
  shown.value = time;
}

/** Speeds to choose from, round in the units that people read. */
export const SPEEDS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, ...[1, 2, 5, 10, 30].map((it) => 60 * it), ...[1, 2, 6, 12].map((it) => 3600 * it),
  ...[1, 2, 5, 10, 20, 50, 100, 200].map((it) => 86_400 * it), ...[1, 2, 5, 10, 20, 50, 100, 1000].map((it) => 31_557_600 * it),
];

/** A speed at which a middling planet goes round in half a minute. */
export function fittingSpeed(world: World): number {
  const periods = world.bodies.filter((body) => body.depth === 1).map((body) => period(body.orbit))
    .filter(Number.isFinite).sort((a, b) => a - b);
  const wanted = (periods[periods.length >> 2] ?? 30) / 30;
  return SPEEDS.find((it) => it >= wanted) ?? 1;
}

const UNITS: [string, number][] = [['years', 31_557_600], ['days', 86_400], ['hours', 3600], ['min', 60], ['s', 1]];

/** A span of time for people: `2.4 years`. */
export function span(seconds: number): string {
  if (!Number.isFinite(seconds)) return '∞';
  const size = Math.abs(seconds);
  const [unit, length] = UNITS.find(([, length]) => size >= length) ?? ['s', 1];
  const number = figure(seconds / length);
  return `${number} ${number === '1' ? unit.replace(/(?<=..)s$/, '') : unit}`;
}

/** A number in few digits. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e7)) return value.toExponential(2).replace('e+', 'e');
  return String(Number(value.toPrecision(4)));
}
