// The time that is looked at: play, pause, step, speed, a date to go to, now, and back to the universe's own.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import * as app from '../app';
import * as clock from '../clock';
import { dateOf, readTime } from '../dates';
import { IconButton } from './Icon';

/** A step is what half a second of playing would be. */
export const step = (way: number) => clock.jump(clock.shown.value + (way * clock.speed.value) / 2);
/** Shows the time of now, where there are dates. */
export const goNow = () => { if (clock.epoch.value !== null) clock.jump(clock.today()); };

export function TimeBar() {
  const speed = clock.speed.value, on = clock.playing.value;
  const at = clock.SPEEDS.findIndex((it) => it >= speed);
  return (
    <div class="timebar" role="group" aria-label="Time">
      <div class="transport">
        <IconButton name="back" label="Step back" keys="," onClick={() => step(-1)} />
        <button type="button" class="play" aria-label={on ? 'Pause' : 'Play'} aria-keyshortcuts="Space" title={`${on ? 'Pause' : 'Play'} (Space)`} onClick={() => clock.play(!on)}>
          <IconPlay on={on} />
        </button>
        <IconButton name="next" label="Step" keys="." onClick={() => step(1)} />
      </div>
      <Jump />
      {clock.epoch.value !== null && <button type="button" class="small" aria-keyshortcuts="N" title="Show this very moment (N)" onClick={goNow}>Now</button>}
      <label class="speed">
        <input type="range" min={0} max={clock.SPEEDS.length - 1} step={1} value={at} aria-label="Speed" title="Speed"
          aria-valuetext={`${clock.span(speed)} each second`} onInput={(event) => { clock.speed.value = clock.SPEEDS[Number(event.currentTarget.value)]!; }} />
        <output>{clock.span(speed)}/s</output>
      </label>
      <Own />
    </div>
  );
}

/** The time, to read and to type. */
function Jump() {
  const typed = useSignal<string | null>(null);
  const wrong = useSignal(false);
  /** What stood there when typing began: time may go on meanwhile. */
  const begun = useRef('');
  const time = clock.shown.value, epoch = clock.epoch.value;
  const plain = String(Math.abs(time) >= 1000 ? Math.round(time) : Number(time.toFixed(2)));
  const date = dateOf(time, epoch), shown = date ?? `${plain}${epoch === null ? '' : ' s'}`;
  const leave = () => {
    const text = typed.value;
    if (text === null || text.trim() === '' || text === begun.current) { typed.value = null; wrong.value = false; return; }
    const read = readTime(text, epoch);
    if (typeof read === 'string') { wrong.value = true; app.say(read, true); return; }
    clock.jump(read);
    typed.value = null;
    wrong.value = false;
  };
  return (
    <label class="jump">
      <input type="text" aria-label={epoch === null ? 'Time in seconds' : 'Date and time'} spellcheck={false} autocomplete="off" aria-invalid={wrong.value}
        title={epoch === null ? 'Type seconds of simulation' : 'Type a date, such as 2061-07-28, a year, or now'} value={typed.value ?? shown}
        onFocus={(event) => { if (typed.value === null) typed.value = begun.current = event.currentTarget.value; event.currentTarget.select(); }} onInput={(event) => { typed.value = event.currentTarget.value; }}
        onBlur={leave}
        onKeyDown={(event) => { if (event.key === 'Enter') event.currentTarget.blur(); if (event.key === 'Escape') { typed.value = null; wrong.value = false; event.currentTarget.blur(); } }} />
      <span class="unit">{date ? 'UTC' : epoch === null ? 's' : ''}</span>
    </label>
  );
}

/** The universe's own time, which others see, too. Both buttons are always there, so that nothing moves when time does. */
function Own() {
  const time = clock.shown.value, own = app.universeTime.value;
  const why = app.whyNot.value, away = time - own;
  return (
    <div class="own">
      <button type="button" class="small" aria-keyshortcuts="B" disabled={clock.attached.value} title={`Show the universe's own time: ${clock.told(own)} (B)`} onClick={() => clock.attach(own)}>Show universe's time</button>
      <button type="button" class="small" disabled={!!why || clock.attached.value || away === 0} title={why ?? 'Send a tick, so that the universe is at the time shown, for everybody'}
        onClick={async () => { clock.play(false); if (await app.command({ type: 'tick', dt: away }, `The universe moved by ${clock.span(away)}.`)) clock.attach(time); }}>Set universe's time</button>
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
