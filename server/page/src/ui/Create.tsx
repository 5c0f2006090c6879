// A new universe: empty, the solar system, one made from a seed, or out of a file.

import { useSignal } from '@preact/signals';
import * as api from '../api';
import * as app from '../app';
import { seedOf } from '../seed';
import { shut } from './Dialogs';

const PRESETS: [string, string][] = [
  ['classic', 'one to three stars, a few planets'], ['compact', 'one or two planets with many moons'], ['multiStarHeavy', 'two or three stars in each system'],
  ['moonRich', 'many moons'], ['sparseOutpost', 'hardly a planet'], ['deepHierarchy', 'moons that have moons'],
];
const STYLES: [string, string][] = [
  ['sparse', 'three systems'], ['solarLike', 'five systems such as ours'], ['crowded', 'fifteen systems with all that there is'], ['superDenseExperimental', 'fifty systems'],
];
const KINDS = [
  ['sol', 'Solar system', 'True masses, radii and orbits'], ['generate', 'From a seed', 'The same seed makes the same universe'],
  ['empty', 'Empty', 'Nothing in it yet'], ['file', 'From a file', 'A state or a record as JSON'],
] as const;

const randomSeed = () => Math.random().toString(36).slice(2, 8);

/** A state out of the text of a file: a state itself, or a record around one. */
export function stateOf(text: string): { name?: string; state: unknown } {
  const read: unknown = JSON.parse(text);
  if (!read || typeof read !== 'object' || Array.isArray(read)) throw new Error('the file must hold an object');
  const it = read as Record<string, unknown>;
  if (it.state && typeof it.state === 'object') return { name: typeof it.name === 'string' ? it.name : undefined, state: it.state };
  if ('stars' in it) return { state: it };
  throw new Error('the file holds neither a state (with "stars") nor a record (with "state")');
}

export function Create() {
  const kind = useSignal<(typeof KINDS)[number][0]>('sol');
  const name = useSignal('');
  const seed = useSignal(randomSeed());
  const preset = useSignal('classic'), style = useSignal('solarLike');
  const file = useSignal<{ name: string; state: unknown } | null>(null);
  const wrong = useSignal<string | null>(null);
  const busy = useSignal(false);
  const fallback = { sol: 'Sol', generate: `Seed ${seed.value}`, empty: 'New universe', file: file.value?.name ?? 'Imported' }[kind.value];
  const submit = async (event: Event) => {
    event.preventDefault();
    wrong.value = null;
    busy.value = true;
    try {
      const called = name.value.trim() || fallback;
      const body: Record<string, unknown> = { name: called };
      if (kind.value === 'empty') body.state = {};
      if (kind.value === 'sol') body.state = await (await api.request('GET', '/page/sol.json')).json();
      if (kind.value === 'generate') body.generate = { seed: seedOf(seed.value), preset: preset.value, style: style.value };
      if (kind.value === 'file') {
        if (!file.value) throw new Error('choose a file first');
        body.state = file.value.state;
      }
      const made = await api.create(body);
      shut();
      const odd = made.warnings?.length ?? 0;
      app.say(`${made.name} is made${odd ? `; ${odd} things in it are odd` : ''}.`);
      await app.openUniverse(made.id);
    } catch (error) {
      wrong.value = error instanceof Error ? error.message : String(error);
    } finally {
      busy.value = false;
    }
  };
  const choose = async (chosen: File | undefined) => {
    wrong.value = null;
    file.value = null;
    if (!chosen) return;
    try {
      const { name: own, state } = stateOf(await chosen.text());
      file.value = { name: own ?? chosen.name.replace(/\.json$/i, ''), state };
    } catch (error) {
      wrong.value = `${chosen.name}: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <fieldset class="choices">
        <legend>What is in it</legend>
        {KINDS.map(([value, title, note]) => (
          <label key={value} class="choice">
            <input type="radio" name="kind" value={value} checked={kind.value === value} onChange={() => { kind.value = value; }} />
            <span><strong>{title}</strong><span class="note">{note}</span></span>
          </label>
        ))}
      </fieldset>
      {kind.value === 'generate' && (
        <>
          <label class="line">Seed<span class="pair"><input type="text" required maxLength={200} value={seed.value} onInput={(event) => { seed.value = event.currentTarget.value; }} /><button type="button" onClick={() => { seed.value = randomSeed(); }}>Another</button></span></label>
          <label class="line">Systems are<Choice value={preset} of={PRESETS} /></label>
          <label class="line">Style<Choice value={style} of={STYLES} /></label>
        </>
      )}
      {kind.value === 'file' && <label class="line">File<input type="file" accept=".json,application/json" onChange={(event) => void choose(event.currentTarget.files?.[0])} /></label>}
      <label class="line">Name<input type="text" placeholder={fallback} value={name.value} onInput={(event) => { name.value = event.currentTarget.value; }} /></label>
      {wrong.value && <p class="wrong" role="alert">{wrong.value}</p>}
      <div class="foot"><button type="button" onClick={shut}>Cancel</button><button class="primary" disabled={busy.value}>{busy.value ? 'Making…' : 'Create'}</button></div>
    </form>
  );
}

function Choice({ value, of }: { value: { value: string }; of: [string, string][] }) {
  return (
    <select value={value.value} onChange={(event) => { value.value = event.currentTarget.value; }}>
      {of.map(([it, note]) => <option key={it} value={it}>{it}: {note}</option>)}
    </select>
  );
}
