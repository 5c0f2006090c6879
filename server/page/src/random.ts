// Repeatable scatter for drawing: the same seed gives the same belt on every screen. Nothing of the domain depends on it.

/** Numbers from 0 to 1 that begin at a seed (mulberry32). */
export function scatter(seed: string | number): () => number {
  let state = 0x811c9dc5;
  for (const unit of String(seed)) state = Math.imul(state ^ unit.charCodeAt(0), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
