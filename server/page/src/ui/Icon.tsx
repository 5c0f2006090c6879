// Line icons of the page, drawn here so that none has to be fetched.

const PATHS: Record<string, string> = {
  play: 'M7 5l12 7-12 7z', pause: 'M8 5v14M16 5v14', back: 'M17 5v14l-9-7zM6 5v14', next: 'M7 5v14l9-7zM18 5v14',
  now: 'M12 7v5l3 3M12 3a9 9 0 1 0 9 9', undo: 'M9 7L4 12l5 5M4 12h11a5 5 0 0 1 0 10h-2', help: 'M9 9a3 3 0 1 1 4 2.8c-.7.3-1 .9-1 1.7M12 17.5v.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5', auto: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 3v18',
  plus: 'M12 5v14M5 12h14', minus: 'M5 12h14', edit: 'M4 20h4L19 9l-4-4L4 16z', trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13', down: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  fit: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5', list: 'M4 6h16M4 12h16M4 18h16', close: 'M6 6l12 12M18 6L6 18', right: 'M9 6l6 6-6 6', left: 'M15 6l-6 6 6 6',
  target: 'M12 3v4M12 17v4M3 12h4M17 12h4M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8', log: 'M5 5h14v14H5zM8 9h8M8 13h8M8 17h4', sliders: 'M5 7h9M18 7h1M5 17h1M10 17h9M16 5v4M8 15v4',
  lock: 'M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z', tag: 'M4 4h8l8 8-8 8-8-8zM8.5 8.5v.01', orbit: 'M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M3.8 20.2C2 18.4 4.5 13.3 9 8.8s9.7-6.9 11.4-5.2-.8 6.9-5.3 11.4-9.6 7-11.3 5.2', palette: 'M12 3a9 9 0 1 0 0 18c1.5 0 1.5-1.5 1-2.5s0-2.5 1.5-2.5H17a4 4 0 0 0 4-4c0-5-4-9-9-9M8 9v.01M12 7v.01M16 9v.01',
  link: 'M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1-1', picture: 'M4 5h16v14H4zM4 16l5-5 4 4 2-2 5 5M15.5 9v.01', full: 'M4 10V4h6M14 20h6v-6M4 4l6 6M20 20l-6-6', spark: 'M12 3l2 6 6 3-6 3-2 6-2-6-6-3 6-3z',
  scale: 'M4 18h16M4 14v4M9 16v2M13 16v2M20 14v4M6 8h12M8 6L6 8l2 2M16 6l2 2-2 2',
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name] ?? ''} fill={name === 'play' ? 'currentColor' : 'none'} stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

/** A button that is an icon; its name is its label and its tip. */
export function IconButton({ name, label, keys, pressed, disabled, onClick }: {
  name: string; label: string; keys?: string; pressed?: boolean; disabled?: boolean; onClick(): void;
}) {
  return (
    <button type="button" class="icon-button" aria-label={label} aria-pressed={pressed} aria-keyshortcuts={keys}
      title={keys ? `${label} (${keys})` : label} disabled={disabled} onClick={onClick}>
      <Icon name={name} />
    </button>
  );
}
