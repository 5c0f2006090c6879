// The time that is looked at: play, pause, step, speed, jump, and back to the universe's own.

import { useSignal } from '@preact/signals';
import * as app from '../app';
import * as clock from '../clock';
import { IconButton } from './Icon';

/** A step is what half a second of playing would be. */
export const step = (way: number) => clock.jump(clock.shown.value + (way * clock.speed.value) / 2);

export function TimeBar() {
  const typed = useSignal<string | null>(null);
  const time = clock.shown.value, speed = clock.speed.value, on = clock.playing.value;
  const at = clock.SPEEDS.findIndex((it) => it >= speed);
  const away = time - app.universeTime.value;
  const why = app.whyNot.value;
  return (
    <div class="timebar" role="group" aria-label="Time">
      <div class="transport">
        <IconButton name="back" label="Step back" keys="," onClick={() => step(-1)} />
        <button type="button" class="play" aria-label={on ? 'Pause' : 'Play'} aria-keyshortcuts="Space" title={`${on ? 'Pause' : 'Play'} (Space)`} onClick={() => clock.play(!on)}>
          <IconPlay on={on} />
        </button>
        <IconButton name="next" label="Step" keys="." onClick={() => step(1)} />
      </div>
      <label class="speed">
        <span class="label">Speed</span>
        <input type="range" min={0} max={clock.SPEEDS.length - 1} step={1} value={at} aria-label="Speed"
          aria-valuetext={`${clock.span(speed)} each second`} onInput={(event) => { clock.speed.value = clock.SPEEDS[Number(event.currentTarget.value)]!; }} />
        <output>{clock.span(speed)}/s</output>
      </label>
      <label class="jump">
        <span class="label">Time</span>
        <input type="text" inputMode="decimal" aria-label="Time in seconds" spellcheck={false} autocomplete="off"
          value={typed.value ?? String(Math.abs(time) >= 1000 ? Math.round(time) : Number(time.toFixed(2)))}
          onFocus={(event) => { typed.value = String(time); event.currentTarget.value = typed.value; event.currentTarget.select(); }} onInput={(event) => { typed.value = event.currentTarget.value; }}
          onBlur={() => { if (typed.value !== null && typed.value.trim() !== '' && Number(typed.value) !== time) clock.jump(Number(typed.value)); typed.value = null; }}
          onKeyDown={(event) => { if (event.key === 'Enter') event.currentTarget.blur(); if (event.key === 'Escape') { typed.value = null; event.currentTarget.blur(); } }} />
        <span class="unit">s</span>
        <span class="span" title="The same in the largest unit that fits">{Math.abs(time) < 60 ? '' : `= ${clock.span(time)}`}</span>
      </label>
      <div class="own">
        {clock.attached.value ? <span class="note">Universe's time</span> : (
          <>
            <button type="button" class="small" title={`Show the universe's own time, ${clock.span(app.universeTime.value)}`} onClick={() => clock.attach(app.universeTime.value)}>Universe's time</button>
            <button type="button" class="small" disabled={!!why || away === 0} title={why ?? 'Send a tick, so that the universe is at the time shown, for everybody'}
              onClick={async () => { clock.play(false); if (await app.command({ type: 'tick', dt: away }, `The universe moved by ${clock.span(away)}.`)) clock.attach(time); }}>Move it here</button>
          </>
        )}
      </div>
    </div>
  );
}

function IconPlay({ on }: { on: boolean }) {
  return (
    <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      {on ? <path d="M7 5h3.5v14H7zM13.5 5H17v14h-3.5z" fill="currentColor" /> : <path d="M8 5l11 7-11 7z" fill="currentColor" />}
    </svg>
  );
}
