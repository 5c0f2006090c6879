// To show others what is seen: a link, a picture, the whole screen.

import * as app from '../app';
import * as clock from '../clock';
import { stage } from './eye';

/** Copies the address of what is seen, with its time. */
export async function copyLink(): Promise<void> {
  if (!app.open.value) return;
  history.replaceState(null, '', app.here(true));
  try {
    await navigator.clipboard.writeText(location.href);
    app.say('The link is copied: this universe, this body, this time, this view.');
  } catch {
    // Browsers let pages copy over HTTPS and on this machine alone.
    app.say('This browser does not let the page copy. The link is in the address bar.');
  }
}

/** Copies the picture, or saves it where a page may not copy. */
export async function copyPicture(): Promise<void> {
  const canvas = stage?.picture(`${app.open.value?.name ?? ''} · ${clock.told(clock.shown.value)}${clock.epoch.value === null ? '' : ' UTC'}`);
  const blob = canvas && await new Promise<Blob | null>((made) => canvas.toBlob(made, 'image/png'));
  if (!blob || !app.open.value) return;
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]);
    app.say('The picture is copied.');
  } catch {
    saveAs(blob, 'png');
    app.say('The picture is saved: this browser does not let the page copy it.');
  }
}

/** Saves a file that is called as the universe. */
export function saveAs(blob: Blob, ending: string): void {
  const { name, revision } = app.open.value!;
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60) || 'universe'}-${revision}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The picture and its time over the whole screen, or back. */
export function fullScreen(): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void document.getElementById('middle')?.requestFullscreen?.().catch(() => app.say('This browser does not give the page the whole screen.', true));
}
