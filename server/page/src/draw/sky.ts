// Stars behind everything: made from a seed, as far away as can be, thicker along one great circle. Not those of any map.

import { scatter } from '../random';

/** How strong and how large the stars of a class are, the faintest first. */
export const CLASSES = [{ alpha: 0.4, size: 1, count: 1500 }, { alpha: 0.65, size: 1.2, count: 500 }, { alpha: 0.95, size: 1.7, count: 110 }] as const;

/** Directions, three numbers each, one list for each class. */
export const sky: Float32Array[] = (() => {
  const random = scatter('sky');
  return CLASSES.map(({ count }) => {
    const all = new Float32Array(3 * count);
    for (let n = 0; n < count; n += 1) {
      const angle = 2 * Math.PI * random(), inBand = random() < 0.45;
      const z = inBand ? 0.28 * (random() + random() + random() - 1.5) : 2 * random() - 1;
      const r = Math.sqrt(1 - z * z), [x, y] = [r * Math.cos(angle), r * Math.sin(angle)];
      // The band is inclined to the plane of the orbits by 60 degrees.
      all.set([x, -(0.5 * z - 0.866 * y), 0.5 * y + 0.866 * z], 3 * n);
    }
    return all;
  });
})();
