// The stage: it draws when something changed, at the detail that this machine can do, and finds what is pointed at.

import { Camera } from './camera';
import { CanvasRenderer } from './draw/canvas';
import { type Frame, type Renderer, least } from './draw/frame';
import { isMaking, surfaceFrom } from './draw/globes';
import { WebGlRenderer } from './draw/webgl';
import { type Layout, layoutOf, placesAt, type Scale } from './layout';
import { type World, sunOf } from './model';
import { Overlay } from './overlay';
import { type Scene, refresh, sceneOf } from './scene';

export interface Settings { scale: Scale; labels: boolean; orbits: boolean; byGroup: boolean; dark: boolean; still: boolean }
/** Colours of the page's theme. */
export interface Theme { ground: [number, number, number]; ink: [number, number, number]; accent: [number, number, number] }

/** A picture that takes longer than this in milliseconds is drawn with less, one that takes less than a third with more. */
const SLOW = 34;
/** What of the time between two pictures is the screen's own. */
const GRACE = 14;
/** The most discs that hide what is behind them. */
const MOST_DISCS = 40;
/** The most times that are remembered. */
const TIMES = 64;

export class Stage {
  readonly camera = new Camera();
  private readonly times: number[] = [];
  world: World | null = null;
  layout: Layout | null = null;
  time = 0;
  /** Seconds of simulation in a second of ours. */
  pace = 0;
  selected = -1;
  hovered = -1;
  following = false;
  private renderer: Renderer;
  private canvas: HTMLCanvasElement;
  private readonly overlay: Overlay;
  private settings: Settings = { scale: 'compact', labels: true, orbits: true, byGroup: false, dark: true, still: false };
  private theme: Theme = { ground: [10, 12, 18], ink: [230, 232, 238], accent: [110, 150, 255] };
  private scene: Scene | null = null;
  private places = new Float64Array(0);
  private screen = new Float64Array(0);
  private seen: number[] = [];
  private detail = 1;
  private asked = 0;
  private drawn = 0;
  private flowing = false;
  private rest = 0;
  private taken: DOMRect[] = [];
  /** Whether everything is shown, and stays so when the page changes its shape. */
  private fitted = false;
  private flight: { from: number[]; to: () => number[]; distance: [number, number]; yaw: [number, number]; begin: number } | null = null;
  /** Told once nothing has moved for a while. */
  onRest = () => {};
  private resting = 0;

  constructor(private readonly holder: HTMLElement, wanted: string | null, private readonly tick: (now: number) => boolean) {
    this.overlay = new Overlay(this.element('names'));
    [this.renderer, this.canvas] = this.choose(wanted);
    holder.append(this.canvas, this.overlay.canvas);
    new ResizeObserver(() => this.resize()).observe(holder);
    this.resize();
  }

  private element(name: string): HTMLCanvasElement {
    const canvas = document.createElement('canvas');
    canvas.className = name;
    canvas.setAttribute('aria-hidden', 'true');
    return canvas;
  }

  /** The GPU where there is one. On the processor a plain canvas is quicker than WebGL. */
  private choose(wanted: string | null): [Renderer, HTMLCanvasElement] {
    const canvas = this.element('picture');
    if (wanted !== 'canvas') {
      const renderer = WebGlRenderer.on(canvas, wanted === 'webgl');
      if (renderer) {
        canvas.addEventListener('webglcontextlost', () => {
          const [plain, element] = this.choose('canvas');
          this.canvas.replaceWith(element);
          [this.renderer, this.canvas] = [plain, element];
          this.remake();
        }, { once: true });
        return [renderer, canvas];
      }
    }
    const plain = this.element('picture');
    return [new CanvasRenderer(plain), plain];
  }

  private resize(): void {
    this.camera.width = Math.max(this.holder.clientWidth, 1);
    this.camera.height = Math.max(this.holder.clientHeight, 1);
    const box = this.holder.getBoundingClientRect();
    this.taken = [...this.holder.parentElement?.querySelectorAll('.chips > *, .tools') ?? []].map((it) => {
      const own = it.getBoundingClientRect();
      return new DOMRect(own.x - box.x, own.y - box.y, own.width, own.height);
    });
    if (this.fitted) this.fit(true);
    this.ask();
  }

  set(settings: Settings, theme: Theme): void {
    const old = this.settings;
    this.settings = settings;
    this.theme = theme;
    if (old.scale !== settings.scale || old.byGroup !== settings.byGroup) {
      this.remake();
      if (old.scale !== settings.scale) this.fit();
    }
    this.ask();
  }

  show(world: World | null, fresh: boolean): void {
    this.world = world;
    this.hovered = -1;
    this.remake();
    if (!fresh) return;
    [this.camera.yaw, this.camera.pitch] = this.begin();
    this.camera.update();
    this.fit(true);
  }

  /** The directions that a universe is first seen from: a tall screen is filled by looking from higher up. */
  private begin(): [number, number] {
    return [0.6, this.camera.height > this.camera.width * 1.2 ? 0.95 : 0.55];
  }

  /** Where the eye is and the scale, as a part of an address; nothing for the compact scale where the eye has not moved. */
  view(): string {
    const { yaw, pitch, distance, target } = this.camera, [firstYaw, firstPitch] = this.begin();
    const scale = this.settings.scale === 'true' ? ['true'] : [];
    if (this.fitted && yaw === firstYaw && pitch === firstPitch) return scale.join();
    const short = (it: number, digits: number) => String(Number(it.toPrecision(digits)));
    const free = this.selected >= 0 && this.following ? [] : target.map((it) => short(it, 9));
    return [short(yaw, 4), short(pitch, 4), short(distance, 5), ...free, ...scale].join();
  }

  /** Goes where such a part says, at once. Whether it stays with the body that is selected, or null for what cannot be read. */
  look(view: string): boolean | null {
    if (view === 'true') { this.show(this.world, true); return false; }
    const [yaw, pitch, distance, ...target] = view.split(',').filter((it) => it !== 'true').map(Number);
    if (![yaw, pitch, distance, ...target].every(Number.isFinite) || !distance || distance <= 0 || target.length % 3) return null;
    const stays = !target.length && this.selected >= 0, scale = view.endsWith('true') ? 'true' : 'compact';
    // Before the page's setting follows: a change of that shows everything.
    if (scale !== this.settings.scale) { this.settings = { ...this.settings, scale }; this.remake(); }
    this.camera.yaw = yaw!;
    this.camera.pitch = pitch!;
    this.go(() => (target.length ? target : stays ? this.placeOf(this.selected) : [0, 0, 0]), distance, { atOnce: true });
    return stays;
  }

  private placeOf(index: number): number[] { return [...this.places.slice(3 * index, 3 * index + 3)]; }

  /** What is drawn now, as a picture of its own with a line that says what it is. */
  picture(caption: string): HTMLCanvasElement {
    this.detail = 1;
    this.draw(performance.now());
    const made = document.createElement('canvas'), c = made.getContext('2d')!;
    [made.width, made.height] = [this.canvas.width, this.canvas.height];
    c.drawImage(this.canvas, 0, 0);
    c.drawImage(this.overlay.canvas, 0, 0, made.width, made.height);
    const ratio = made.width / this.camera.width;
    c.font = `${12 * ratio}px system-ui, sans-serif`;
    c.fillStyle = `rgb(${this.theme.ink.join()})`;
    c.fillText(caption, 12 * ratio, made.height - 12 * ratio);
    return made;
  }

  private remake(): void {
    if (!this.world) { this.scene = null; this.layout = null; this.ask(); return; }
    const size = this.world.bodies.length;
    this.layout = layoutOf(this.world, this.settings.scale);
    this.places = new Float64Array(3 * size);
    this.screen = new Float64Array(4 * size);
    // Orbits lie as at this time.
    placesAt(this.world, this.layout, this.time, this.places);
    this.scene = sceneOf(this.world, this.layout, this.settings.byGroup, this.renderer.grains, this.time);
    this.ask();
  }

  /** Sees to it that a picture is drawn soon. */
  ask(): void {
    if (this.asked) return;
    this.asked = requestAnimationFrame((now) => {
      this.asked = 0;
      const moves = this.tick(now);
      this.draw(now);
      this.flowing = moves || !!this.flight;
      if (this.flowing) this.ask();
    });
  }

  private draw(now: number): void {
    const begin = performance.now();
    if (this.scene && this.layout && this.world) {
      placesAt(this.world, this.layout, this.time, this.places);
      refresh(this.scene, this.time);
      this.fly(now);
    }
    this.camera.update();
    this.project();
    const ratio = Math.min(window.devicePixelRatio || 1, this.detail < 0.5 ? 1 : 2);
    const scene = this.scene ?? { world: EMPTY, layout: layoutOf(EMPTY, 'true'), lines: [], grains: [], puffs: [], colors: [], version: 0 };
    const frame: Frame = {
      scene, camera: this.camera, time: this.time, places: this.places, screen: this.screen, seen: this.seen,
      detail: this.detail, pace: this.pace, dark: this.settings.dark, orbits: this.settings.orbits, selected: this.selected,
      calm: !this.flowing, surface: surfaceFrom(this.seen, this.screen),
      ...this.theme, ratio,
    };
    this.renderer.draw(frame);
    const named = scene.puffs.filter((_, n) => n % 9 === 0)
      .map((puff) => ({ ...puff, name: scene.world.state.nebulae[puff.id]?.name ?? puff.id }));
    this.overlay.draw(frame, this.settings.labels, this.hovered, named, this.taken);
    // The next picture has the next surface.
    if (isMaking(frame)) this.ask();
    clearTimeout(this.resting);
    this.resting = window.setTimeout(this.onRest, 500);
    // While things move, the time between two pictures says what the browser did with them.
    const gap = this.flowing ? Math.min(now - this.drawn, 1000) : 0;
    this.drawn = now;
    this.measured(performance.now() - begin, gap);
  }

  /** Chooses the detail by how long pictures take, and draws with all of it once nothing moves. */
  private measured(took: number, gap: number): void {
    this.times.push(Math.max(took, gap - GRACE));
    if (this.times.length > TIMES) this.times.shift();
    const { dataset } = this.holder;
    if (!dataset.frames && this.scene) performance.mark('first-picture');
    dataset.frames = String(Number(dataset.frames ?? 0) + (this.scene ? 1 : 0));
    dataset.renderer = this.renderer.name;
    dataset.took = took.toFixed(1);
    dataset.detail = String(this.detail);
    dataset.time = String(this.time);
    dataset.distance = this.camera.distance.toPrecision(6);
    clearTimeout(this.rest);
    if (this.detail < 1) {
      this.rest = window.setTimeout(() => { const kept = this.detail; this.detail = 1; this.draw(performance.now()); this.detail = kept; clearTimeout(this.rest); }, 400);
    }
    if (this.times.length % 4) return;
    const recent = [...this.times.slice(-4)].sort((a, b) => a - b)[1]!;
    if (recent > SLOW && this.detail > 0.1) this.detail /= 2;
    else if (recent < SLOW / 3 && this.detail < 1) this.detail *= 2;
  }

  private project(): void {
    const { camera, screen, places, layout, world } = this;
    this.seen = [];
    if (!world || !layout) return;
    for (const { index, kind } of world.bodies) {
      const at = 3 * index, to = 4 * index;
      screen[to + 3] = -1;
      if (!camera.project(places[at]!, places[at + 1]!, places[at + 2]!, screen, to)) continue;
      // From near, less than half of a ball is seen, and it looks larger.
      const own = layout.radius[index]!, depth = screen[to + 2]!;
      const r = Math.max((own * camera.focal) / Math.sqrt(Math.max(depth * depth - own * own, 0.01 * own * own) || 1), least(kind));
      if (screen[to]! < -r - 60 || screen[to + 1]! < -r - 60 || screen[to]! > camera.width + r + 60 || screen[to + 1]! > camera.height + r + 60) continue;
      // Satellites that cannot be told from their parent are not drawn, and points of no size only where there is room.
      const { parent } = world.bodies[index]!;
      if (parent >= 0 && screen[4 * parent + 3]! > 0 && index !== this.selected) {
        const [dx, dy] = [screen[to]! - screen[4 * parent]!, screen[to + 1]! - screen[4 * parent + 1]!];
        const room = kind === 'lagrangePoint' ? 40 : 2;
        if (dx * dx + dy * dy < room * room && layout.radius[index]! < layout.radius[parent]!) continue;
      }
      screen[to + 3] = r;
      this.seen.push(index);
    }
    // What is behind a disc is not seen, nor named. Few discs are large.
    const discs = this.seen.filter((index) => screen[4 * index + 3]! > 20).slice(0, MOST_DISCS).map((index) => screen.subarray(4 * index, 4 * index + 4));
    const isHidden = (index: number) => discs.some(([x, y, depth, r]) => depth! < screen[4 * index + 2]!
      && Math.hypot(x! - screen[4 * index]!, y! - screen[4 * index + 1]!) + screen[4 * index + 3]! < r!);
    if (discs.length) this.seen = this.seen.filter((index) => index === this.selected || !isHidden(index));
    this.seen.sort((a, b) => screen[4 * b + 2]! - screen[4 * a + 2]!);
  }

  /** The body at a place of the screen, or −1. */
  pick(x: number, y: number): number {
    let best = -1, least = 144;
    for (const index of this.seen) {
      const r = Math.max(this.screen[4 * index + 3]!, 4);
      const distance = (this.screen[4 * index]! - x) ** 2 + (this.screen[4 * index + 1]! - y) ** 2;
      const off = distance < r * r ? -1 / (1 + this.screen[4 * index + 2]!) : distance - r * r;
      if (off < least) { least = off; best = index; }
    }
    return best;
  }

  /** Shows everything. */
  fit(atOnce = false): void {
    if (!this.layout) return;
    const tight = Math.min(this.camera.width, this.camera.height * 1.25) / Math.min(this.camera.height, this.camera.width * 1.4);
    this.go(() => [0, 0, 0], (this.layout.reach * 2.6) / Math.max(tight, 0.3), { atOnce });
    this.fitted = true;
  }

  /** Goes to a body, so near that its disc is seen, from its day side; where that is so, so far that all about it is. */
  focus(index: number): void {
    const { layout, world, camera } = this, body = world?.bodies[index];
    if (!layout || !body) return;
    const own = layout.radius[index]!, ring = body.star.ring?.outerRadiusMultiplier ?? 0;
    const around = Math.max(layout.extent[index]! * 2.8, own * 9, layout.reach * 1e-9), disc = own * Math.max(7, ring * 3.6);
    const [x, y, z] = this.placeOf(index).map((at, axis) => at - camera.target[axis]!);
    const isThere = Math.hypot(x!, y!, z!) < own && Math.abs(camera.distance / disc - 1) < 0.1;
    let yaw = camera.yaw;
    const sun = sunOf(world, body);
    if (own > 0 && sun >= 0) {
      const [here, there] = [this.placeOf(index), this.placeOf(sun)], full = Math.atan2(there[0]! - here[0]!, here[2]! - there[2]!);
      // Three quarters of the disc are lit, and what is nearer to how one looks now is taken.
      const off = (it: number) => Math.atan2(Math.sin(it - camera.yaw), Math.cos(it - camera.yaw));
      const [one, other] = [off(full + 0.9), off(full - 0.9)];
      yaw += Math.abs(off(full)) < 1.2 ? 0 : Math.abs(one) < Math.abs(other) ? one : other;
    }
    this.go(() => this.placeOf(index), own > 0 && !isThere ? disc : around, { yaw });
  }

  /** Brings a body into the picture, if it is not there. */
  reveal(index: number): void {
    const [x, y, , r] = this.screen.slice(4 * index, 4 * index + 4), { width, height } = this.camera;
    if (r! > 0 && x! > 0 && y! > 0 && x! < width && y! < height) return;
    this.go(() => this.placeOf(index), this.camera.distance);
  }

  private go(to: () => number[], distance: number, { atOnce = false, yaw = this.camera.yaw } = {}): void {
    this.fitted = false;
    if (atOnce || this.settings.still) {
      if (this.world && this.layout) placesAt(this.world, this.layout, this.time, this.places);
      this.camera.target = to();
      this.camera.distance = distance;
      this.camera.yaw = yaw;
      this.flight = null;
    } else {
      this.flight = { from: [...this.camera.target], to, distance: [this.camera.distance, distance], yaw: [this.camera.yaw, yaw], begin: performance.now() };
    }
    this.ask();
  }

  private fly(now: number): void {
    const { flight, camera } = this;
    if (flight) {
      const part = Math.min(Math.max((now - flight.begin) / 900, 0), 1), ease = part * part * (3 - 2 * part);
      const [from, to] = flight.distance;
      camera.distance = from * (to / from) ** ease;
      camera.yaw = flight.yaw[0] + (flight.yaw[1] - flight.yaw[0]) * ease;
      // The target arrives with the distance, so that what is gone to stays in view.
      const arrival = from > to * 1.01 ? 1 - ((camera.distance - to) / (from - to)) * (1 - ease) : ease;
      const end = flight.to();
      camera.target = camera.target.map((_, axis) => flight.from[axis]! + (end[axis]! - flight.from[axis]!) * arrival);
      if (part >= 1) this.flight = null;
    } else if (this.following && this.selected >= 0) {
      camera.target = this.placeOf(this.selected);
    }
  }

  /** The nearest that the eye may come to its target: a body that it is in fills the picture then. */
  private nearest(): number {
    const { target } = this.camera, { layout, world } = this;
    let least = (layout?.reach ?? 10) * 1e-9;
    for (const { index } of world?.bodies ?? []) {
      const own = layout!.radius[index]!;
      const away = Math.hypot(this.places[3 * index]! - target[0]!, this.places[3 * index + 1]! - target[1]!, this.places[3 * index + 2]! - target[2]!);
      if (away < own) least = Math.max(least, 2.2 * own);
    }
    return least;
  }

  turn(dx: number, dy: number): void {
    if (this.flight) this.flight.yaw = [this.camera.yaw, this.camera.yaw];
    this.camera.yaw -= dx * 0.006;
    this.camera.pitch += dy * 0.006;
    this.ask();
  }

  pan(dx: number, dy: number): void {
    this.flight = null;
    this.fitted = false;
    this.camera.pan(dx, dy);
    this.ask();
  }

  zoom(factor: number): void {
    const reach = this.layout?.reach ?? 10;
    this.flight = null;
    this.fitted = false;
    this.camera.zoom(factor, this.nearest(), reach * 40);
    this.ask();
  }

  dispose(): void {
    cancelAnimationFrame(this.asked);
    clearTimeout(this.rest);
    clearTimeout(this.resting);
    this.renderer.dispose();
    this.holder.replaceChildren();
  }
}

const EMPTY: World = {
  state: { stars: {}, rootIds: [], groups: {}, rootGroupIds: [], belts: {}, smallBodyFields: {}, protoplanetaryDisks: {}, nebulae: {}, time: 0 },
  bodies: [], roots: [], byId: new Map(), matter: [],
};
