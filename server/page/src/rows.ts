// The outline of a universe as rows: groups, what is in them, what circles what.

import type { Body, Family, Ref, World } from './model';

export interface Row {
  key: string; ref: Ref; name: string; kind: string; level: number; color: string; count: number;
  open: boolean | null; size: number; position: number;
}

export const KINDS: Record<string, string> = {
  star: 'star', planet: 'planet', moon: 'moon', asteroid: 'asteroid', comet: 'comet', lagrangePoint: 'Lagrange point',
  blackHole: 'black hole', roguePlanet: 'rogue planet', groups: 'group', smallBodyFields: 'belt',
  protoplanetaryDisks: 'disk', nebulae: 'nebula',
};

const keyOf = (ref: Ref) => `${ref.family}/${ref.id}`;
interface Node { ref: Ref; name: string; kind: string; color: string; count: number; below: () => Node[] }

function nodes(world: World): Node[] {
  const { state, bodies } = world;
  const matterOf = new Map<Body, Node[]>(), hosted = new Set<unknown>();
  for (const { it, family, host } of world.matter) {
    const node: Node = {
      ref: { family, id: it.id }, name: it.name || it.regionLabel || it.id, kind: family, color: it.baseColor, count: 0, below: () => [],
    };
    const about = matterOf.get(host);
    if (about) about.push(node); else matterOf.set(host, [node]);
    hosted.add(it);
  }
  const ofBody = (body: Body): Node => ({
    ref: { family: 'stars', id: body.star.id }, name: body.star.name || body.star.id, kind: body.kind, color: body.star.color,
    count: body.children.length + (matterOf.get(body)?.length ?? 0),
    below: () => [...body.children.map((child) => ofBody(bodies[child]!)), ...(matterOf.get(body) ?? [])],
  });
  const inGroups = new Set<string>();
  for (const id in state.groups) {
    for (const child of state.groups[id]!.children ?? []) if (child.type === 'system') inGroups.add(child.id);
  }
  const hostless = (['smallBodyFields', 'protoplanetaryDisks'] as const).flatMap((family) =>
    Object.values(state[family] ?? {}).filter((it) => !hosted.has(it)).map((it): Node => ({
      ref: { family, id: it.id }, name: it.name || it.id, kind: family, color: it.baseColor, count: 0, below: () => [],
    })));
  return [
    ...groupNodes(world, ofBody),
    ...world.roots.filter((root) => !inGroups.has(bodies[root]!.star.id)).map((root) => ofBody(bodies[root]!)),
    ...hostless,
    ...Object.values(state.nebulae ?? {}).map((it): Node => ({
      ref: { family: 'nebulae', id: it.id }, name: it.name || it.id, kind: 'nebulae', color: it.baseColor, count: 0, below: () => [],
    })),
  ];
}

/** The groups, each where it is met first, and what is in them. By a stack of its own: groups may lie in each other very deep. */
function groupNodes({ state, byId }: World, ofBody: (body: Body) => Node): Node[] {
  const top: Node[] = [], seen = new Set<string>();
  const waiting: { id: string; type: string; into: Node[] }[] = [];
  const put = (list: { id: string; type: string }[], into: Node[]) => {
    for (let n = list.length - 1; n >= 0; n -= 1) waiting.push({ id: list[n]!.id, type: list[n]!.type, into });
  };
  put((state.rootGroupIds ?? []).map((id) => ({ id, type: 'group' })), top);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { id, type, into } = next;
    if (type !== 'group') {
      const body = byId.get(id);
      if (body) into.push(ofBody(body));
      continue;
    }
    const group = state.groups[id];
    if (!group || seen.has(id)) continue;
    seen.add(id);
    const below: Node[] = [];
    into.push({ ref: { family: 'groups', id }, name: group.name || id, kind: 'groups', color: group.color ?? '#8a8f98',
      get count() { return below.length; }, below: () => below });
    put(group.children ?? [], below);
  }
  return top;
}

/** The rows that are open; those named in `flipped` differ from what they are at first: groups and roots open, else closed. */
export function rowsOf(world: World, flipped: Set<string>): Row[] {
  const rows: Row[] = [];
  const waiting: { node: Node; level: number; size: number; position: number }[] = [];
  const put = (list: Node[], level: number) => {
    for (let n = list.length - 1; n >= 0; n -= 1) waiting.push({ node: list[n]!, level, size: list.length, position: n + 1 });
  };
  put(nodes(world), 1);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, level, size, position } = next;
    const key = keyOf(node.ref), { count } = node;
    const first = node.kind === 'groups' || (node.ref.family === 'stars' && world.byId.get(node.ref.id)!.depth === 0 && world.roots.length < 12);
    const open = count ? first !== flipped.has(key) : null;
    rows.push({ key, ref: node.ref, name: node.name, kind: node.kind, color: node.color, level, open, size, position, count });
    if (open) put(node.below(), level + 1);
  }
  return rows;
}

/** The most hits of a search that are shown. */
export const MAX_HITS = 200;

/** What has the words in its name, its id or its kind; names that begin with them first. */
export function search(world: World, words: string): Row[] {
  const wanted = words.trim().toLowerCase();
  const hits: { row: Row; rank: number }[] = [];
  const look = (ref: Ref, name: string, kind: string, color: string) => {
    const [low, id] = [name.toLowerCase(), ref.id.toLowerCase()];
    const rank = low.startsWith(wanted) ? 0 : low.includes(wanted) ? 1 : id.includes(wanted) ? 2 : (KINDS[kind] ?? kind).includes(wanted) ? 3 : -1;
    if (rank >= 0) hits.push({ rank, row: { key: keyOf(ref), ref, name, kind, color, level: 1, open: null, size: 0, position: 0, count: 0 } });
  };
  for (const body of world.bodies) look({ family: 'stars', id: body.star.id }, body.star.name || body.star.id, body.kind, body.star.color);
  for (const family of ['groups', 'smallBodyFields', 'protoplanetaryDisks', 'nebulae'] as Family[]) {
    for (const it of Object.values(world.state[family] ?? {}) as { id: string; name?: string; color?: string; baseColor?: string }[]) {
      look({ family, id: it.id }, it.name || it.id, family, it.color ?? it.baseColor ?? '#8a8f98');
    }
  }
  hits.sort((a, b) => a.rank - b.rank || a.row.name.localeCompare(b.row.name));
  const shown = hits.slice(0, MAX_HITS).map(({ row }) => row);
  shown.forEach((row, at) => { row.size = shown.length; row.position = at + 1; });
  return shown;
}
