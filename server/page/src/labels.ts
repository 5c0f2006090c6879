// Names beside bodies. No two overlap: the most important ones come first, and a grid says what is taken.

export interface Label { index: number; x: number; y: number; gap: number; text: string; width: number; rank: number }
export interface Placed { index: number; x: number; y: number; text: string }

export const LINE = 15;
const CELL = 8;

/** Places labels of the given order where there is room, at most so many; no name lies on one of the bodies (x, y, radius)
 * or in one of the boxes. */
export function placed(labels: Label[], width: number, height: number, most: number, bodies: [number, number, number][] = [],
  boxes: { x: number; y: number; width: number; height: number }[] = []): Placed[] {
  const columns = Math.ceil(width / CELL), rows = Math.ceil(height / CELL);
  if (columns <= 0 || rows <= 0) return [];
  const taken = new Uint8Array(columns * rows);
  const cells = (x: number, y: number, w: number, work: (at: number) => boolean): boolean => {
    const [left, right] = [Math.floor(x / CELL), Math.floor((x + w) / CELL)];
    const [top, bottom] = [Math.floor(y / CELL), Math.floor((y + LINE) / CELL)];
    if (left < 0 || top < 0 || right >= columns || bottom >= rows) return false;
    for (let row = top; row <= bottom; row += 1) {
      for (let column = left; column <= right; column += 1) if (!work(row * columns + column)) return false;
    }
    return true;
  };
  const block = (x: number, y: number, w: number, h: number) => {
    for (let row = Math.max(0, Math.ceil(y / CELL)); row <= Math.min(rows - 1, Math.floor((y + h) / CELL)); row += 1) {
      for (let column = Math.max(0, Math.ceil(x / CELL)); column <= Math.min(columns - 1, Math.floor((x + w) / CELL)); column += 1) taken[row * columns + column] = 1;
    }
  };
  for (const [x, y, r] of bodies) block(x - r * 0.7, y - r * 0.7, r * 1.4, r * 1.4);
  for (const box of boxes) block(box.x, box.y, box.width, box.height);
  const result: Placed[] = [];
  for (const { index, x, y, gap, text, width: w } of labels) {
    if (result.length >= most) break;
    const places: [number, number][] = [
      [x + gap, y - LINE / 2], [x - gap - w, y - LINE / 2], [x - w / 2, y - gap - LINE], [x - w / 2, y + gap],
    ];
    const free = places.find(([px, py]) => cells(px, py, w, (at) => !taken[at]));
    if (!free) continue;
    cells(free[0], free[1], w, (at) => { taken[at] = 1; return true; });
    result.push({ index, x: free[0], y: free[1], text });
  }
  return result;
}
