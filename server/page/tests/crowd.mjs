// Universes of a given size, to look at and to measure.

/** So many bodies in systems of two hundred: stars on a spiral, planets, moons; `particles` in belts. */
export function crowd(bodies, particles = 0) {
  const stars = {}, rootIds = [], groups = {}, smallBodyFields = {};
  const colors = ['#6fa8dc', '#d9a066', '#b8bcc6', '#c06a5a', '#8fce9a', '#e0c070'];
  const put = (id, parent, bodyType, size, distance, speed, more = {}) => {
    stars[id] = {
      id, name: id.toUpperCase(), color: bodyType === 'star' ? '#ffd27a' : colors[Object.keys(stars).length % colors.length], mass: size ** 3, radius: size,
      children: [], parentId: parent, bodyType, orbitalDistance: distance, orbitalSpeed: speed, orbitalPhase: (Object.keys(stars).length * 137.5) % 360, ...more,
    };
    if (parent) stars[parent].children.push(id); else rootIds.push(id);
    return id;
  };
  let left = bodies;
  for (let system = 0; left > 0; system += 1) {
    const [turn, away] = [system * 2.399963, 700 * Math.sqrt(system)];
    const star = put(`s${system}`, null, 'star', 2, 0, 0, { orbitOffsetX: away * Math.cos(turn), orbitOffsetZ: away * Math.sin(turn) });
    left -= 1;
    for (let planet = 0; planet < 20 && left > 0; planet += 1) {
      const distance = 8 * 1.22 ** planet;
      const id = put(`${star}-p${planet}`, star, 'planet', 0.5, distance, 60 / distance ** 1.5 * 8, { eccentricity: 0.05, orbitRotX: planet % 5, ...(planet % 7 === 3 ? { ring: { innerRadiusMultiplier: 1.4, outerRadiusMultiplier: 2.4, thickness: 0.02, opacity: 0.7, albedo: 0.8, color: '#d8c6a0', density: 0.6 } } : {}) });
      left -= 1;
      for (let moon = 0; moon < 9 && left > 0; moon += 1) {
        put(`${id}-m${moon}`, id, 'moon', 0.1, 0.8 + 0.25 * moon, 40 / (1 + moon));
        left -= 1;
      }
    }
  }
  const groupIds = ['red', 'green', 'blue'];
  groupIds.forEach((id, n) => {
    groups[id] = { id, name: `The ${id} ones`, color: ['#e06c75', '#6fcf97', '#7aa2ff'][n], parentGroupId: null, children: rootIds.filter((_, at) => at % 3 === n).map((child) => ({ id: child, type: 'system' })) };
  });
  const belts = particles ? Math.min(rootIds.length, Math.ceil(particles / 20000)) : 0;
  for (let n = 0; n < belts; n += 1) {
    const id = `belt-${n}`;
    smallBodyFields[id] = {
      id, systemId: rootIds[n], hostStarId: rootIds[n], innerRadius: 40, outerRadius: 70, thickness: 3, particleCount: Math.round(particles / belts), baseColor: '#8a7f70',
      highlightColor: '#c9bda8', opacity: 0.7, brightness: 0.6, clumpiness: 0.3, rotationSpeedMultiplier: 1, beltType: 'main', regionLabel: 'Belt', isIcy: false, seed: n, style: 'moderate',
    };
  }
  return { stars, rootIds, groups, rootGroupIds: groupIds, belts: {}, smallBodyFields, protoplanetaryDisks: {}, nebulae: {}, time: 0 };
}
