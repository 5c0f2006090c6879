// The server's REST, as far as the page needs it. A failure is an Error that says what the server said.

import type { State } from './model';

export interface Finding { path: string; message: string }
export interface Summary { id: string; name: string; createdAt: string; updatedAt: string; revision: number }
export interface Universe extends Summary { state: State; warnings?: Finding[] }
export interface Entry { revision: number; at?: string; command?: Command; name?: string; events?: unknown[] }
export interface Command { type: string; id?: string; [member: string]: unknown }

/** An answer that is not what was asked for. Status 0: no answer came. */
export class Refused extends Error {
  constructor(readonly status: number, message: string, readonly findings: Finding[] = []) { super(message); }
}

const TOKEN = 'universe-token';
// Some browsers keep nothing for a page; then the token lasts as long as the page.
let kept: string | null = null;
try { kept = sessionStorage.getItem(TOKEN); } catch { /* as above */ }

export const token = () => kept;
/** Remembers a token for this tab until it is closed, or forgets it. */
export function setToken(value: string | null): void {
  kept = value;
  try {
    if (value === null) sessionStorage.removeItem(TOKEN); else sessionStorage.setItem(TOKEN, value);
  } catch { /* as above */ }
}

export const authorized = (headers: Record<string, string> = {}): Record<string, string> =>
  kept ? { ...headers, authorization: `Bearer ${kept}` } : headers;

/** Dots are written as escapes, too: what ends in `.svg` or `.png` would be the picture of another universe. */
export const pathOf = (id: string) => `/universes/${encodeURIComponent(id).replaceAll('.', '%2E')}`;

export async function request(method: string, path: string, body?: unknown, headers: Record<string, string> = {},
  cache: RequestCache = 'no-store'): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: authorized(body === undefined ? headers : { 'content-type': 'application/json', ...headers }),
      body: body === undefined ? undefined : JSON.stringify(body),
      cache, credentials: 'omit',
    });
  } catch {
    throw new Refused(0, 'the server does not answer');
  }
  if (response.ok || response.status === 304) return response;
  throw await refusal(response);
}

/** What a failed response says. */
export async function refusal(response: Response): Promise<Refused> {
  let told: { error?: string; findings?: Finding[] } = {};
  try { told = await response.json(); } catch { /* no JSON: the status says it */ }
  return new Refused(response.status, told.error ?? `the server answered ${response.status}`, told.findings);
}

/** What an answer says may be done at its address. Without a word, everything. */
export function allowed(response: Response, method: string): boolean {
  const allow = response.headers.get('allow');
  return allow === null || allow.split(/\s*,\s*/).includes(method);
}

export async function listUniverses(): Promise<{ list: Summary[]; create: boolean }> {
  const list: Summary[] = [];
  let path: string | null = '/universes?view=summary&limit=500', create = true;
  // Ten pages are 5,000 universes; more than a list is good for.
  for (let page = 0; path && page < 10; page += 1) {
    const response: Response = await request('GET', path);
    create = allowed(response, 'POST');
    list.push(...await response.json() as Summary[]);
    path = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? null;
  }
  return { list, create };
}

/** Whether the server takes no changes from anybody: what it says to callers it has not asked who they are. */
export const isReadOnly = async () => !allowed(await request('OPTIONS', '/universes'), 'POST');

export async function getUniverse(id: string): Promise<{ universe: Universe; write: boolean; remove: boolean }> {
  const response = await request('GET', pathOf(id));
  return { universe: await response.json() as Universe, write: allowed(response, 'PUT'), remove: allowed(response, 'DELETE') };
}

/** The revision that an answer is of, or null. Its tag names the encoding, too: `"7-gzip"`. */
const revisionOf = (response: Response): number | null => {
  const digits = /^(?:W\/)?"(\d+)/.exec(response.headers.get('etag') ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
};

/** Sends a command. What is odd in it, and the revision that it made, if the answer says so. */
export async function send(id: string, command: Command): Promise<{ warnings: Finding[]; revision: number | null }> {
  const response = await request('POST', `${pathOf(id)}/commands?result=events`, command);
  const { warnings } = await response.json() as { warnings?: Finding[] };
  return { warnings: warnings ?? [], revision: revisionOf(response) };
}

/** A universe as the server draws it. The browser may keep it, and asks whether it is still so. */
export const picture = async (id: string, width: number, height: number, dark: boolean) =>
  (await request('GET', `${pathOf(id)}.png?width=${width}&height=${height}&theme=${dark ? 'dark' : 'light'}`, undefined, {}, 'default')).blob();

export const create = async (body: unknown) => await (await request('POST', '/universes', body)).json() as Universe;
export const rename = (id: string, name: string) => request('PUT', pathOf(id), { name });
export const remove = (id: string) => request('DELETE', pathOf(id));
/** Goes back to a revision, if the universe is still at `present`: nothing that was not seen is undone. Gives the revision that
 * this made, if the answer says so. */
export const undo = async (id: string, revision: number, present: number) =>
  ({ revision: revisionOf(await request('POST', `${pathOf(id)}/undo`, { revision }, { 'if-match': `"${present}"` })) });

/** Up to 100 entries after a revision, the oldest first. */
export async function history(id: string, after: number): Promise<Entry[]> {
  const response = await request('GET', `${pathOf(id)}/history?after=${after}&limit=100`);
  return (await response.json() as { entries: Entry[] }).entries;
}
