// The seed that a typed text stands for. It is as on the command line, so that the same text makes the same universe.

/** The largest seed that is a number. */
const MAX_SEED = 4_294_967_295;

/** Digits alone, up to 4294967295 and without a leading zero, are a number; everything else is a text. */
export function seedOf(text: string): number | string {
  return /^(0|[1-9][0-9]{0,9})$/.test(text) && Number(text) <= MAX_SEED ? Number(text) : text;
}
