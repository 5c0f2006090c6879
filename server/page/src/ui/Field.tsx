// One member of an entity: shown with its unit, changed by Enter or by leaving it, taken back by Escape.

import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect } from 'preact/hooks';
import { figure } from '../clock';
import type { Member } from '../members';
import { rgb } from '../scene';

export function Field({ member, value, hint, disabled, commit }: {
  member: Member; value: unknown; hint?: string; disabled: boolean;
  /** Sends the new value; what is wrong with it, or null. */
  commit(value: unknown): Promise<string | null>;
}) {
  const id = useId();
  const draft = useSignal<string | null>(null);
  const wrong = useSignal<string | null>(null);
  const busy = useSignal(false);
  const own = value === undefined || value === null ? '' : String(value);
  // What others set is shown at once, but not over what is being typed.
  useLayoutEffect(() => { if (document.activeElement?.id !== id) { draft.value = null; wrong.value = null; } }, [own]);
  const apply = async (given: unknown) => {
    busy.value = true;
    wrong.value = await commit(given);
    busy.value = false;
  };
  const leave = () => {
    const now = draft.value;
    if (now === null || now === own) { draft.value = null; wrong.value = null; return; }
    if (member.kind !== 'number') { void apply(now); return; }
    const parsed = Number(now.trim().replace(',', '.'));
    if (now.trim() === '' || !Number.isFinite(parsed)) { wrong.value = `${member.label} must be a number, such as 1.5 or 2e6.`; return; }
    if (parsed === value) { draft.value = null; wrong.value = null; return; }
    void apply(parsed);
  };
  const describedBy = wrong.value ? `${id}-wrong` : hint ? `${id}-hint` : undefined;
  const common = { id, disabled, 'aria-invalid': !!wrong.value, 'aria-describedby': describedBy };
  const shown = draft.value ?? (member.kind === 'number' && typeof value === 'number' ? short(value) : own);
  return (
    <div class="field" data-busy={busy.value}>
      <label for={id}>{member.label}</label>
      <div class="input">
        {member.kind === 'choice' ? (
          <select {...common} value={own} onChange={(event) => void apply(event.currentTarget.value)}>
            {!member.choices!.includes(own) && <option value={own}>{own || 'not said'}</option>}
            {member.choices!.map((choice) => <option key={choice} value={choice}>{choice}</option>)}
          </select>
        ) : member.kind === 'flag' ? (
          <input {...common} type="checkbox" checked={value !== false && value !== undefined} onChange={(event) => void apply(event.currentTarget.checked)} />
        ) : (
          <>
            {member.kind === 'color' && (
              <input type="color" aria-label={`${member.label}: choose`} disabled={disabled} value={hex(own)} onChange={(event) => void apply(event.currentTarget.value)} />
            )}
            <input {...common} type="text" inputMode={member.kind === 'number' ? 'decimal' : undefined} autocomplete="off" spellcheck={false}
              value={shown} title={own}
              onFocus={(event) => {
                if (draft.value !== null) return;
                // At once, so that what is typed next replaces the whole number and not its short form.
                draft.value = own;
                event.currentTarget.value = own;
                event.currentTarget.select();
              }}
              onInput={(event) => { draft.value = event.currentTarget.value; wrong.value = null; }}
              onBlur={leave}
              onKeyDown={(event) => {
                if (event.key === 'Enter') { event.preventDefault(); event.currentTarget.blur(); }
                if (event.key === 'Escape') { event.stopPropagation(); draft.value = own; wrong.value = null; event.currentTarget.blur(); }
              }} />
            {member.unit && <span class="unit">{member.unit}</span>}
          </>
        )}
      </div>
      {wrong.value ? <p class="wrong" id={`${id}-wrong`} role="alert">{wrong.value}</p> : hint ? <p class="hint" id={`${id}-hint`}>{hint}</p> : null}
    </div>
  );
}

/** A colour in any of its ways, as the browser's chooser has it. */
const hex = (color: string) => `#${rgb(color).map((it) => it.toString(16).padStart(2, '0')).join('')}`;

const short = (value: number) => (String(value).length > 9 ? figure(value) : String(value));
