// Draws on the GPU: bodies in one call, each belt in one, the orbits about each body that is near enough in one.

import { type Body, sunOf } from '../model';
import { LANES, type Lines, type Rgb, type Scene, rgb } from '../scene';
import type { Skin } from '../skin';
import { fineLine, isFine, strength } from './fine';
import { type Frame, type Renderer, halo, nearness, offset, starlight, visible } from './frame';
import { diskColors, globeOf, keep, lightOn, night, ringColor, used } from './globes';
import { STEPS, profileOf } from './rings';
import { BALL, CROSS, GLOBES, GLOW, GRAINS, HOLE, LINES, RINGS, RING_STEPS, SPRITES, STAR } from './shaders';
import { CLASSES, sky } from './sky';

type Uniforms = Record<string, WebGLUniformLocation | null>;
interface Program { program: WebGLProgram; uniforms: Uniforms }
/** The numbers of one sprite: place, radius, colour, kind, light, alpha. */
const SPRITE = 11;

/** How far away stars are put: beyond all that is drawn. */
const FAR = 1e7;
/** A ring without parts. */
const WHOLE = new Float32Array(STEPS).fill(1);
const hasSurface = ({ scene, screen, surface }: Frame, index: number) =>
  screen[4 * index + 3]! > surface && !/blackHole|lagrangePoint/.test(scene.world.bodies[index]!.kind);

/** What of a scene is on the GPU. */
interface Uploaded {
  scene: Scene; dark: boolean; version: number; points: WebGLBuffer;
  lines: WebGLVertexArrayObject; ranges: { lines: Lines; first: number; count: number; points: number }[];
  grains: WebGLVertexArrayObject[]; buffers: WebGLBuffer[];
}

/** Whether a context says that no GPU is behind it: not all browsers refuse one when they are asked to. */
function playedByProcessor(gl: WebGL2RenderingContext): boolean {
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export class WebGlRenderer implements Renderer {
  readonly name = 'webgl2';
  readonly grains = 400_000;
  private readonly programs: { lines: Program; sprites: Program; grains: Program; rings: Program; globes: Program };
  private readonly skins = new Map<Skin, WebGLTexture>();
  private readonly stars: WebGLVertexArrayObject[];
  private readonly fine: { array: WebGLVertexArrayObject; buffer: WebGLBuffer };
  private readonly sprites: { array: WebGLVertexArrayObject; buffer: WebGLBuffer };
  private readonly empty: WebGLVertexArrayObject;
  private data = new Float32Array(SPRITE * 1024);
  private count = 0;
  private uploaded: Uploaded | null = null;

  private constructor(private readonly canvas: HTMLCanvasElement, private readonly gl: WebGL2RenderingContext) {
    this.programs = {
      lines: this.program(LINES, ['origin', 'paint']), sprites: this.program(SPRITES, ['dark']),
      grains: this.program(GRAINS, ['origin', 'lanes', 'first', 'second', 'size']),
      rings: this.program(RINGS, ['origin', 'u', 'v', 'radii', 'first', 'second', 'profile', 'own', 'light']),
      globes: this.program(GLOBES, ['origin', 'radius', 'skin', 'turn', 'light', 'ring', 'profile']),
    };
    const array = gl.createVertexArray()!, buffer = gl.createBuffer()!;
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    [[4, 0], [4, 4], [3, 8]].forEach(([size, from], at) => {
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size!, gl.FLOAT, false, 4 * SPRITE, 4 * from!);
      gl.vertexAttribDivisor(at, 1);
    });
    this.sprites = { array, buffer };
    this.empty = gl.createVertexArray()!;
    this.stars = sky.map((all) => this.points(Float32Array.from({ length: (all.length / 3) * 4 }, (_, n) => (n % 4 === 3 ? 0 : all[3 * (n >> 2) + (n % 4)]! * FAR)), 4).array);
    this.fine = this.points(new Float32Array(3), 3);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthFunc(gl.LEQUAL);
  }

  /** A renderer if there is a GPU; where `software` will do, also one that the processor plays. */
  static on(canvas: HTMLCanvasElement, software: boolean): WebGlRenderer | null {
    const gl = canvas.getContext('webgl2', {
      alpha: false, antialias: true, powerPreference: 'high-performance', failIfMajorPerformanceCaveat: !software,
    });
    if (!gl || (!software && playedByProcessor(gl))) return null;
    return new WebGlRenderer(canvas, gl);
  }

  dispose(): void {
    this.gl.getExtension('WEBGL_lose_context')?.loseContext();
  }

  draw(frame: Frame): void {
    const { gl, canvas } = this;
    const { camera, ratio, scene, dark } = frame;
    const [width, height] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    if (this.uploaded?.scene !== scene || this.uploaded.dark !== dark) this.upload(scene, dark);
    gl.viewport(0, 0, width, height);
    const [r, g, b] = frame.ground;
    gl.clearColor(r / 255, g / 255, b / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    if (dark) this.sky(frame);
    this.glows(frame);
    this.matter(frame);
    if (frame.orbits) this.orbits(frame);
    gl.enable(gl.DEPTH_TEST);
    this.bodies(frame, this.globes(frame));
    gl.depthMask(false);
    this.rings(frame);
    gl.depthMask(true);
  }

  private program({ vertex, fragment }: { vertex: string; fragment: string }, names: string[]): Program {
    const { gl } = this;
    const program = gl.createProgram()!;
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
      const shader = gl.createShader(kind)!;
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(`a shader does not link: ${gl.getProgramInfoLog(program)}`);
    }
    const uniforms: Uniforms = {};
    for (const name of ['basis', 'eye', ...names]) uniforms[name] = gl.getUniformLocation(program, name);
    return { program, uniforms };
  }

  private use({ program, uniforms }: Program, { camera }: Frame): Uniforms {
    const { gl } = this;
    gl.useProgram(program);
    // Columns of the matrix are rows here: basis[n] is one direction.
    gl.uniformMatrix3fv(uniforms.basis!, false, Float32Array.from(camera.basis));
    gl.uniform4f(uniforms.eye!, camera.distance, camera.focal, camera.width, camera.height);
    return uniforms;
  }

  private upload(scene: Scene, dark: boolean): void {
    const { gl } = this;
    for (const buffer of this.uploaded?.buffers ?? []) gl.deleteBuffer(buffer);
    for (const array of [this.uploaded?.lines, ...this.uploaded?.grains ?? []]) if (array) gl.deleteVertexArray(array);
    const buffers: WebGLBuffer[] = [];
    let pointsBuffer: WebGLBuffer;
    const buffer = (target: number, data: Float32Array | Uint32Array | Uint8Array) => {
      const made = gl.createBuffer()!;
      gl.bindBuffer(target, made);
      gl.bufferData(target, data, gl.STATIC_DRAW);
      buffers.push(made);
    };
    const total = scene.lines.reduce((sum, lines) => sum + lines.points.length / 3, 0);
    const points = new Float32Array(3 * total), colors = new Uint8Array(4 * total), indices = new Uint32Array(2 * total);
    const ranges: Uploaded['ranges'] = [];
    let point = 0, index = 0;
    for (const lines of scene.lines) {
      const first = index;
      points.set(lines.points, 3 * point);
      for (const part of lines.parts) {
        const [r, g, b] = visible(part.color, dark);
        for (let n = 0; n < part.count; n += 1) {
          const at = point + part.start + n;
          colors.set([r, g, b, part.body.depth < 2 ? 100 : 70], 4 * at);
          if (n > 0) { indices[index] = at - 1; indices[index + 1] = at; index += 2; }
        }
      }
      ranges.push({ lines, first, count: index - first, points: point });
      point += lines.points.length / 3;
    }
    const lines = gl.createVertexArray()!;
    gl.bindVertexArray(lines);
    buffer(gl.ARRAY_BUFFER, points);
    pointsBuffer = buffers[0]!;
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    buffer(gl.ARRAY_BUFFER, colors);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    buffer(gl.ELEMENT_ARRAY_BUFFER, indices.subarray(0, index));
    const grains = scene.grains.map((it) => {
      const array = gl.createVertexArray()!;
      gl.bindVertexArray(array);
      buffer(gl.ARRAY_BUFFER, it.grains);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 0, 0);
      return array;
    });
    gl.bindVertexArray(null);
    this.uploaded = { scene, dark, version: scene.version, points: pointsBuffer, lines, ranges, grains, buffers };
  }

  private push(place: number[], radius: number, [r, g, b]: Rgb, kind: number, lx = 0, ly = 0, alpha = 1): void {
    if ((this.count + 1) * SPRITE > this.data.length) {
      const more = new Float32Array(this.data.length * 2);
      more.set(this.data);
      this.data = more;
    }
    this.data.set([place[0]!, place[1]!, place[2]!, radius, r / 255, g / 255, b / 255, kind, lx, ly, alpha], SPRITE * this.count);
    this.count += 1;
  }

  private flush(frame: Frame): void {
    const { gl } = this;
    const uniforms = this.use(this.programs.sprites, frame);
    gl.uniform1f(uniforms.dark!, frame.dark ? 1 : 0);
    gl.bindVertexArray(this.sprites.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.sprites.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.data.subarray(0, SPRITE * this.count), gl.STREAM_DRAW);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.count);
    this.count = 0;
  }

  private glows(frame: Frame): void {
    const { camera, scene, dark, screen } = frame;
    const p = new Float64Array(3);
    for (const puff of scene.puffs) {
      const place = [puff.x - camera.target[0]!, puff.y - camera.target[1]!, puff.z - camera.target[2]!];
      if (!camera.projectRelative(place[0]!, place[1]!, place[2]!, p)) continue;
      const radius = (puff.radius * camera.focal) / p[2]!;
      if (radius > 1 && radius < 8000) this.push(place, radius, visible(puff.color, dark), GLOW, 0, 0, puff.alpha * nearness(radius, camera.width));
    }
    for (const index of frame.seen) {
      if (scene.world.bodies[index]!.kind !== 'star') continue;
      this.push(offset(frame, index), Math.min(screen[4 * index + 3]! * 3.2 + 4, 1500), halo(scene.colors[index]!, dark), GLOW, 0, 0, dark ? 0.75 : 0.6);
    }
    if (this.count) this.flush(frame);
  }

  private matter(frame: Frame): void {
    const { gl } = this;
    const { scene, camera, time, detail, dark, ratio } = frame;
    const uniforms = this.use(this.programs.grains, frame);
    gl.uniform1f(uniforms.size!, Math.max(1, Math.round(ratio * (dark ? 1 : 1.3))));
    const lanes = new Float32Array(2 * LANES);
    scene.grains.forEach((it, at) => {
      const place = offset(frame, it.host);
      const near = Math.max(Math.hypot(...place) + camera.distance - it.outer, camera.distance * 0.05);
      const size = (it.outer * camera.focal) / near;
      if (size < 4) return;
      for (let lane = 0; lane < LANES; lane += 1) {
        const angle = (((time * it.speeds[lane]!) % 360) * Math.PI) / 180;
        lanes[2 * lane] = Math.cos(angle);
        lanes[2 * lane + 1] = Math.sin(angle);
      }
      const alpha = it.opacity * (it.isDisk ? 0.5 : 0.75);
      const [first, second] = it.colors.map((color) => visible(color, dark));
      gl.uniform3fv(uniforms.origin!, place);
      gl.uniform2fv(uniforms.lanes!, lanes);
      gl.uniform4f(uniforms.first!, first![0] / 255, first![1] / 255, first![2] / 255, alpha);
      gl.uniform4f(uniforms.second!, second![0] / 255, second![1] / 255, second![2] / 255, alpha);
      gl.bindVertexArray(this.uploaded!.grains[at]!);
      gl.drawArrays(gl.POINTS, 0, Math.ceil(it.count * detail * Math.min(1, (size / 300) ** 2 + 0.02)));
    });
  }

  private orbits(frame: Frame): void {
    const { gl } = this;
    const { camera, screen, accent, selected } = frame;
    const { lines, ranges, points } = this.uploaded!;
    if (this.uploaded!.version !== frame.scene.version) {
      this.uploaded!.version = frame.scene.version;
      gl.bindBuffer(gl.ARRAY_BUFFER, points);
      for (const range of ranges) gl.bufferSubData(gl.ARRAY_BUFFER, 12 * range.points, range.lines.points);
    }
    const uniforms = this.use(this.programs.lines, frame);
    gl.bindVertexArray(lines);
    for (const range of ranges) {
      const { parent, reach, parts } = range.lines;
      if (parent >= 0) {
        const depth = screen[4 * parent + 2]!;
        if (depth > 0 && (reach * camera.focal) / depth < (frame.detail < 0.5 ? 60 : 6)) continue;
      }
      gl.uniform3fv(uniforms.origin!, offset(frame, parent));
      gl.uniform4f(uniforms.paint!, 0, 0, 0, 0);
      // One call for what lies together; what is seen from near, and what is selected, is drawn alone.
      let at = range.first, from = at;
      const flush = (to: number) => { if (to > from) gl.drawElements(gl.LINES, to - from, gl.UNSIGNED_INT, 4 * from); };
      for (const part of parts) {
        const count = 2 * (part.count - 1), { body } = part, mine = body.index === selected && body.parent === parent;
        const pixels = (part.reach * camera.focal) / Math.max(parent < 0 ? camera.distance : screen[4 * parent + 2]!, part.reach * 0.3);
        const near = body.parent === parent && isFine(body, pixels, part.closed);
        if (near || mine) {
          flush(at);
          const color = mine ? accent : visible(part.color, frame.dark), alpha = mine ? 0.95 : strength(body, pixels, camera);
          gl.uniform4f(uniforms.paint!, color[0] / 255, color[1] / 255, color[2] / 255, alpha);
          if (near) { this.near(frame, body, uniforms); gl.uniform3fv(uniforms.origin!, offset(frame, parent)); gl.bindVertexArray(lines); }
          else gl.drawElements(gl.LINES, count, gl.UNSIGNED_INT, 4 * at);
          gl.uniform4f(uniforms.paint!, 0, 0, 0, 0);
          from = at + count;
        }
        at += count;
      }
      flush(at);
    }
  }

  private near(frame: Frame, body: Body, uniforms: Uniforms): void {
    const { gl } = this, points: number[] = [];
    fineLine(body, frame.scene.layout, offset(frame, body.parent), frame.camera, points);
    gl.bindVertexArray(this.fine.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.fine.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, Float32Array.from(points), gl.STREAM_DRAW);
    gl.uniform3f(uniforms.origin!, 0, 0, 0);
    gl.drawArrays(gl.LINE_STRIP, 0, points.length / 3);
  }

  private points(data: Float32Array, size: number): { array: WebGLVertexArrayObject; buffer: WebGLBuffer } {
    const { gl } = this, array = gl.createVertexArray()!, buffer = gl.createBuffer()!;
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, size, gl.FLOAT, false, 0, 0);
    gl.bindVertexArray(null);
    return { array, buffer };
  }

  private sky(frame: Frame): void {
    const { gl } = this, uniforms = this.use(this.programs.grains, frame);
    gl.uniform3f(uniforms.origin!, 0, 0, 0);
    gl.uniform2fv(uniforms.lanes!, Float32Array.from({ length: 2 * LANES }, (_, n) => 1 - (n % 2)));
    CLASSES.forEach(({ alpha, size, count }, at) => {
      gl.uniform1f(uniforms.size!, size * frame.ratio);
      for (const name of ['first', 'second']) gl.uniform4f(uniforms[name]!, 0.84, 0.88, 1, alpha);
      gl.bindVertexArray(this.stars[at]!);
      gl.drawArrays(gl.POINTS, 0, count);
    });
  }

  /** Draws the bodies whose surfaces are there, and says which. */
  private globes(frame: Frame): Set<number> {
    const done = new Set<number>();
    const { gl } = this, uniforms = this.use(this.programs.globes, frame);
    gl.bindVertexArray(this.empty);
    for (const index of frame.seen) {
      if (!hasSurface(frame, index)) continue;
      const globe = globeOf(frame, index);
      if (!globe) continue;
      const { light, ring } = globe;
      this.bind(globe.skin);
      gl.uniform3fv(uniforms.origin!, offset(frame, index));
      gl.uniform1f(uniforms.radius!, frame.screen[4 * index + 3]!);
      gl.uniformMatrix3fv(uniforms.turn!, false, globe.turn);
      gl.uniform4f(uniforms.light!, ...light ?? [0, 0, 0] as const, light ? night(frame.dark) : 1);
      gl.uniform3f(uniforms.ring!, ring?.inner ?? 0, ring?.outer ?? 0, ring ? 1 : 0);
      if (ring) gl.uniform1fv(uniforms.profile!, ring.profile);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      done.add(index);
    }
    return done;
  }

  private bind(skin: Skin): void {
    const { gl } = this, kept = used(this.skins, skin);
    if (kept) { gl.bindTexture(gl.TEXTURE_2D, kept); return; }
    const texture = gl.createTexture()!;
    gl.deleteTexture(keep(this.skins, skin, texture, 128) ?? null);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, skin.width, skin.height, 0, gl.RGBA, gl.UNSIGNED_BYTE, skin.data);
    for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR], [gl.TEXTURE_WRAP_S, gl.REPEAT], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]] as const) gl.texParameteri(gl.TEXTURE_2D, name, value);
  }

  private bodies(frame: Frame, done: Set<number>): void {
    const { scene, screen, dark } = frame;
    const { bodies } = scene.world;
    for (const index of frame.seen) {
      if (done.has(index)) continue;
      const body = bodies[index]!;
      let kind = BALL, lx = 0, ly = 0, radius = screen[4 * index + 3]!;
      let color = visible(scene.colors[index]!, dark);
      if (body.kind === 'star') { kind = STAR; color = starlight(scene.colors[index]!, dark); }
      else if (body.kind === 'blackHole') { kind = HOLE; [color] = diskColors(body.star); }
      else if (body.kind === 'lagrangePoint') { kind = CROSS; radius = 5; }
      else if (radius > 2) {
        if (radius > 3) color = scene.colors[index]!;
        const sun = sunOf(scene.world, body);
        if (sun >= 0) [lx, ly] = [screen[4 * sun]! - screen[4 * index]!, screen[4 * index + 1]! - screen[4 * sun + 1]!];
        const far = Math.hypot(lx, ly) || 1;
        lx /= far; ly /= far;
      }
      this.push(offset(frame, index), radius, color, kind, lx, ly);
    }
    if (this.count) this.flush(frame);
  }

  private rings(frame: Frame): void {
    const { gl } = this;
    const { scene, screen, dark } = frame;
    const uniforms = this.use(this.programs.rings, frame);
    gl.bindVertexArray(this.empty);
    const ring = (index: number, inner: number, outer: number, first: Rgb, second: Rgb, alpha: number, fade: number, profile: Float32Array) => {
      const { disk } = scene.world.bodies[index]!, light = lightOn(frame, index);
      gl.uniform3fv(uniforms.origin!, offset(frame, index));
      gl.uniform1f(uniforms.own!, scene.layout.radius[index]!);
      gl.uniform4f(uniforms.light!, ...light ?? [0, 0, 0] as const, night(dark));
      gl.uniform3f(uniforms.u!, disk.ux, disk.uy, disk.uz);
      gl.uniform3f(uniforms.v!, disk.vx, disk.vy, disk.vz);
      gl.uniform2f(uniforms.radii!, inner, outer);
      gl.uniform4f(uniforms.first!, first[0] / 255, first[1] / 255, first[2] / 255, alpha);
      gl.uniform4f(uniforms.second!, second[0] / 255, second[1] / 255, second[2] / 255, fade);
      gl.uniform1fv(uniforms.profile!, profile);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 2 * (RING_STEPS + 1));
    };
    for (const index of frame.seen) {
      if (screen[4 * index + 3]! < 2) continue;
      const { star } = scene.world.bodies[index]!;
      const radius = scene.layout.radius[index]!;
      if (star.ring) {
        const color = visible(ringColor(rgb(star.ring.color), star.ring), dark);
        ring(index, radius * star.ring.innerRadiusMultiplier, radius * star.ring.outerRadiusMultiplier, color, color, 1, 1, profileOf(star.id, star.ring));
      }
      if (star.blackHole && star.blackHole.hasAccretionDisk !== false) {
        ring(index, radius * 1.3, radius * 3.5, ...diskColors(star), 0.95, 0.1, WHOLE);
      }
    }
  }
}
