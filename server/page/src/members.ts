// Which members of an entity can be edited, with their units and what they should be.

import type { Family, State } from './model';
import { type Quantity, unitOf } from './units';

export interface Member {
  name: string; label: string; kind: 'number' | 'text' | 'color' | 'flag' | 'choice';
  unit?: string; min?: number; max?: number; choices?: string[];
  /** What it measures, in the unit that the universe names. */
  of?: Quantity;
  /** The member that it is in. */
  inside?: string;
}
export interface Section { title: string; members: Member[]; shut?: boolean }

const number = (name: string, label: string, unit?: string, min?: number, max?: number): Member => ({ name, label, kind: 'number', unit, min, max });
const sized = (name: string, label: string, of: Quantity): Member => ({ name, label, kind: 'number', of, min: 0 });
const text = (name: string, label: string): Member => ({ name, label, kind: 'text' });
const color = (name: string, label: string): Member => ({ name, label, kind: 'color' });
const flag = (name: string, label: string): Member => ({ name, label, kind: 'flag' });
const part = (name: string, label: string) => number(name, label, undefined, 0, 1);

export const BODY_TYPES = ['star', 'planet', 'moon', 'asteroid', 'comet', 'lagrangePoint', 'blackHole'];

const matter: Section[] = [
  { title: 'Belt', members: [text('name', 'Name'), sized('innerRadius', 'Inner radius', 'length'), sized('outerRadius', 'Outer radius', 'length'), sized('thickness', 'Thickness', 'length'), number('particleCount', 'Particles', undefined, 0), number('rotationSpeedMultiplier', 'Speed', '×')] },
  { title: 'Look', members: [color('baseColor', 'Colour'), color('highlightColor', 'Highlight'), part('opacity', 'Opacity'), number('brightness', 'Brightness', undefined, 0), part('clumpiness', 'Clumps')] },
];

const SECTIONS: Record<Family, Section[]> = {
  stars: [
    { title: 'Body', members: [text('name', 'Name'), { name: 'bodyType', label: 'Kind', kind: 'choice', choices: BODY_TYPES }, color('color', 'Colour'), sized('mass', 'Mass', 'mass'), sized('radius', 'Radius', 'radius')] },
    { title: 'Orbit', members: [sized('semiMajorAxis', 'Distance', 'length'), number('eccentricity', 'Eccentricity', undefined, 0, 0.999), number('orbitalSpeed', 'Speed', '°/s'), number('orbitalPhase', 'Phase', '°')] },
    { title: 'Orientation', shut: true, members: [number('orbitRotX', 'Turn about x', '°'), number('orbitRotY', 'Turn about y', '°'), number('orbitRotZ', 'Turn about z', '°'), { ...sized('orbitOffsetX', 'Offset x', 'length'), min: undefined }, { ...sized('orbitOffsetY', 'Offset y', 'length'), min: undefined }, { ...sized('orbitOffsetZ', 'Offset z', 'length'), min: undefined }] },
  ],
  groups: [{ title: 'Group', members: [text('name', 'Name'), color('color', 'Colour'), text('icon', 'Icon')] }],
  smallBodyFields: [matter[0]!, { ...matter[1]!, members: [...matter[1]!.members, flag('visible', 'Visible'), flag('isIcy', 'Icy')] }],
  protoplanetaryDisks: [{ ...matter[0]!, title: 'Disk' }, matter[1]!],
  nebulae: [
    { title: 'Nebula', members: [text('name', 'Name'), sized('radius', 'Radius', 'length'), part('density', 'Density'), part('brightness', 'Brightness')] },
    { title: 'Look', members: [color('baseColor', 'Colour'), color('accentColor', 'Accent'), number('noiseScale', 'Noise scale'), flag('visible', 'Visible')] },
  ],
};

const element = (member: Member): Member => ({ ...member, inside: 'elements' });
/** What stands in place of an orbit's members where a body has `elements`, which win over them. */
const KEPLER: Section[] = [
  { title: 'Orbit', members: [sized('semiMajorAxis', 'Distance', 'length'), number('period', 'Period', 's', 0), number('eccentricity', 'Eccentricity', undefined, 0, 0.999), number('inclination', 'Inclination', '°', 0, 180)].map(element) },
  { title: 'Orientation', shut: true, members: [...[number('ascendingNode', 'Node', '°'), number('argumentOfPeriapsis', 'Periapsis', '°'), number('meanAnomaly', 'Mean anomaly', '°')].map(element), number('axialTilt', 'Axial tilt', '°'), number('axialNode', 'Tilt node', '°'), number('rotationPeriod', 'Turn', 's', 0)] },
];

/** The sections of an entity: of its family, and of how its orbit is said. */
export function sectionsOf(family: Family, hasElements: boolean): Section[] {
  const all = SECTIONS[family];
  return hasElements ? [all[0]!, ...KEPLER] : all;
}

/** A member with the unit that its universe names. */
export const inUnits = (member: Member, state: State): Member => (member.of ? { ...member, unit: unitOf(state, member.of) } : member);

export const RING: Member[] = [
  number('innerRadiusMultiplier', 'Inner radius', '× body', 0), number('outerRadiusMultiplier', 'Outer radius', '× body', 0),
  sized('thickness', 'Half thickness', 'length'), color('color', 'Colour'), part('opacity', 'Opacity'), part('density', 'Density'), part('albedo', 'Albedo'),
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
