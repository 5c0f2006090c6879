// The events of a universe, gone on with after a break. By fetch, as a browser's own reader of such feeds shows no token.

import { Refused, authorized, pathOf, refusal } from './api';

export interface FeedEvent { event: string; revision: number; data: Record<string, unknown> }
export type Link = 'connecting' | 'live' | 'reconnecting' | 'ended';

/** The longest quiet time: the server says something every 30 seconds or more often. */
const QUIET = 40_000;
/** Waits between tries. */
const WAITS = [500, 1000, 2000, 4000, 8000];

/** Reads the feed after `revision` until it is stopped, the universe is gone, or the caller may not read it. */
export function follow(id: string, revision: number, tell: {
  event(event: FeedEvent): void; link(link: Link): void; refused(error: Refused): void;
}): () => void {
  let stopped = false, last = revision, tries = 0, current = new AbortController();
  const run = async () => {
    while (!stopped) {
      current = new AbortController();
      try {
        const ended = await read(current);
        if (ended) return;
      } catch (error) {
        if (stopped) return;
        if (error instanceof Refused && [401, 403, 404].includes(error.status)) {
          tell.link('ended');
          tell.refused(error);
          return;
        }
      }
      if (stopped) return;
      tell.link('reconnecting');
      await new Promise((wake) => setTimeout(wake, WAITS[Math.min(tries, WAITS.length - 1)]));
      tries += 1;
    }
  };
  const read = async (controller: AbortController): Promise<boolean> => {
    const headers = authorized({ accept: 'text/event-stream', 'last-event-id': String(last) });
    const response = await fetch(`${pathOf(id)}/events`, { headers, signal: controller.signal, cache: 'no-store', credentials: 'omit' });
    if (!response.ok || !response.body) throw await refusal(response);
    tell.link('live');
    tries = 0;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '', timer = 0;
    const wait = () => { clearTimeout(timer); timer = window.setTimeout(() => controller.abort(), QUIET); };
    try {
      for (;;) {
        wait();
        const { done, value } = await reader.read();
        if (done) return false;
        const parts = (rest + value).split('\n\n');
        rest = parts.pop() ?? '';
        for (const part of parts) if (took(part)) return true;
      }
    } finally {
      clearTimeout(timer);
    }
  };
  /** One event; whether it is the last. */
  const took = (text: string): boolean => {
    const fields: Record<string, string> = {};
    for (const line of text.split('\n')) {
      const colon = line.indexOf(':');
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
    }
    if (!fields.event) return false;
    if (fields.id) last = Number(fields.id);
    tell.event({ event: fields.event, revision: last, data: JSON.parse(fields.data ?? '{}') });
    if (fields.event !== 'deleted') return false;
    tell.link('ended');
    return true;
  };
  tell.link('connecting');
  void run();
  return () => { stopped = true; current.abort(); };
}
