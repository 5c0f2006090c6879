// What a command changes, for those whose effect follows from themselves: then a large universe need not be read again.
//
// Everything else, and all that touches who belongs to whom, is left to the server: the state is read again.

import type { Command } from './api';
import type { State } from './model';
import { timeOf } from './orbit';

/** Members that say who belongs to whom. */
const STRUCTURE = ['id', 'parentId', 'children', 'parentGroupId', 'parentBeltId', 'lagrangeHostId'];

const MAPS: Record<string, keyof State> = {
  updateStar: 'stars', updateGroup: 'groups', updateSmallBodyField: 'smallBodyFields',
  updateProtoplanetaryDisk: 'protoplanetaryDisks', updateNebula: 'nebulae',
};

/** The state after a command, or null if it has to be read. */
export function fold(state: State, command: Command): State | null {
  if (command.type === 'tick' && command.until !== undefined) {
    const time = timeOf(command.until as string | number, state.epoch);
    return Number.isFinite(time) ? { ...state, time } : null;
  }
  if (command.type === 'tick' && typeof command.dt === 'number') return { ...state, time: state.time + command.dt };
  const name = MAPS[command.type];
  const patch = (command.payload ?? command.patch) as Record<string, unknown> | undefined;
  if (!name || !patch || typeof command.id !== 'string') return null;
  if (STRUCTURE.some((member) => member in patch)) return null;
  const map = state[name] as Record<string, object>;
  const old = Object.hasOwn(map, command.id) ? map[command.id] : undefined;
  // Other members of a body follow from its elements: the server says them.
  if (!old || 'elements' in patch || ('elements' in old && Object.keys(patch).some((member) => /^(orbit|semiMajor|eccen)/.test(member)))) return null;
  return { ...state, [name]: { ...map, [command.id]: { ...old, ...patch } } };
}
