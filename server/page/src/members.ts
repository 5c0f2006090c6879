// Which members of an entity can be edited, with their units and what they should be.

import type { Family } from './model';

export interface Member {
  name: string; label: string; kind: 'number' | 'text' | 'color' | 'flag' | 'choice';
  unit?: string; min?: number; max?: number; choices?: string[]; hint?: string;
}
export interface Section { title: string; members: Member[]; shut?: boolean }

const number = (name: string, label: string, unit?: string, min?: number, max?: number): Member => ({ name, label, kind: 'number', unit, min, max });
const text = (name: string, label: string): Member => ({ name, label, kind: 'text' });
const color = (name: string, label: string): Member => ({ name, label, kind: 'color' });
const flag = (name: string, label: string): Member => ({ name, label, kind: 'flag' });
const part = (name: string, label: string) => number(name, label, undefined, 0, 1);

export const BODY_TYPES = ['star', 'planet', 'moon', 'asteroid', 'comet', 'lagrangePoint', 'blackHole'];

const matter: Section[] = [
  { title: 'Belt', members: [text('name', 'Name'), number('innerRadius', 'Inner radius', 'units', 0), number('outerRadius', 'Outer radius', 'units', 0), number('thickness', 'Thickness', 'units', 0), number('particleCount', 'Particles', undefined, 0), number('rotationSpeedMultiplier', 'Speed', '×')] },
  { title: 'Look', members: [color('baseColor', 'Colour'), color('highlightColor', 'Highlight'), part('opacity', 'Opacity'), number('brightness', 'Brightness', undefined, 0), part('clumpiness', 'Clumps')] },
];

export const SECTIONS: Record<Family, Section[]> = {
  stars: [
    { title: 'Body', members: [text('name', 'Name'), { name: 'bodyType', label: 'Kind', kind: 'choice', choices: BODY_TYPES }, color('color', 'Colour'), number('mass', 'Mass', 'units', 0), number('radius', 'Radius', 'units', 0)] },
    { title: 'Orbit', members: [number('semiMajorAxis', 'Distance', 'units', 0), number('eccentricity', 'Eccentricity', undefined, 0, 0.999), number('orbitalSpeed', 'Speed', '°/s'), number('orbitalPhase', 'Phase', '°')] },
    { title: 'Orientation', shut: true, members: [number('orbitRotX', 'Turn about x', '°'), number('orbitRotY', 'Turn about y', '°'), number('orbitRotZ', 'Turn about z', '°'), number('orbitOffsetX', 'Offset x', 'units'), number('orbitOffsetY', 'Offset y', 'units'), number('orbitOffsetZ', 'Offset z', 'units')] },
  ],
  groups: [{ title: 'Group', members: [text('name', 'Name'), color('color', 'Colour'), text('icon', 'Icon')] }],
  smallBodyFields: [matter[0]!, { ...matter[1]!, members: [...matter[1]!.members, flag('visible', 'Visible'), flag('isIcy', 'Icy')] }],
  protoplanetaryDisks: [{ ...matter[0]!, title: 'Disk' }, matter[1]!],
  nebulae: [
    { title: 'Nebula', members: [text('name', 'Name'), number('radius', 'Radius', 'units', 0), part('density', 'Density'), part('brightness', 'Brightness')] },
    { title: 'Look', members: [color('baseColor', 'Colour'), color('accentColor', 'Accent'), number('noiseScale', 'Noise scale'), flag('visible', 'Visible')] },
  ],
};

export const RING: Member[] = [
  number('innerRadiusMultiplier', 'Inner radius', '× body', 0), number('outerRadiusMultiplier', 'Outer radius', '× body', 0),
  number('thickness', 'Half thickness', 'units', 0), color('color', 'Colour'), part('opacity', 'Opacity'), part('density', 'Density'), part('albedo', 'Albedo'),
];

/** The command that changes members of an entity. */
export function change(family: Family, id: string, patch: Record<string, unknown>) {
  switch (family) {
    case 'stars': return { type: 'updateStar', id, payload: patch };
    case 'groups': return { type: 'updateGroup', id, payload: patch };
    case 'smallBodyFields': return { type: 'updateSmallBodyField', id, patch };
    case 'protoplanetaryDisks': return { type: 'updateProtoplanetaryDisk', id, patch };
    case 'nebulae': return { type: 'updateNebula', id, patch };
  }
}

/** The command that removes an entity. */
export function removal(family: Family, id: string) {
  const types: Record<Family, string> = {
    stars: 'removeStar', groups: 'removeGroup', smallBodyFields: 'removeSmallBodyField',
    protoplanetaryDisks: 'removeProtoplanetaryDisk', nebulae: 'removeNebula',
  };
  return { type: types[family], id };
}
