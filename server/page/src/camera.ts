// The eye: it looks at a target from a distance. Everything is drawn relative to the target, so that small things far
// from the origin keep their places in 32-bit numbers.

/** Half of the angle of view is 22.5 degrees. */
const FOCAL = 1 / Math.tan(Math.PI / 8);

export class Camera {
  target = [0, 0, 0];
  yaw = 0.6;
  pitch = 0.55;
  distance = 10;
  width = 1;
  height = 1;
  /** Right, up and away, as rows. */
  basis = new Float64Array(9);

  /** To be called after a turn. */
  update(): void {
    this.pitch = Math.min(Math.max(this.pitch, -1.55), 1.55);
    const [sy, cy, sp, cp] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
    // North, which is −y, is up: from there bodies go counter-clockwise.
    this.basis.set([cy, 0, sy, -sy * sp, -cp, cy * sp, -sy * cp, sp, cy * cp]);
  }

  /** Pixels of a length at a depth of one. */
  get focal(): number { return FOCAL * Math.min(this.height, this.width * 1.4) / 2; }

  /** Pixels of a unit length at the target. */
  get unit(): number { return this.focal / this.distance; }

  /** A point of the stage on the screen: x, y in pixels and its depth; false behind the eye. */
  project(x: number, y: number, z: number, out: Float64Array, at = 0): boolean {
    return this.projectRelative(x - this.target[0]!, y - this.target[1]!, z - this.target[2]!, out, at);
  }

  projectRelative(x: number, y: number, z: number, out: Float64Array, at = 0): boolean {
    const b = this.basis;
    const depth = b[6]! * x + b[7]! * y + b[8]! * z + this.distance;
    out[at + 2] = depth;
    if (depth <= this.distance * 1e-4) return false;
    const scale = this.focal / depth;
    out[at] = this.width / 2 + (b[0]! * x + b[1]! * y + b[2]! * z) * scale;
    out[at + 1] = this.height / 2 - (b[3]! * x + b[4]! * y + b[5]! * z) * scale;
    return true;
  }

  /** Moves the target by pixels of the screen. */
  pan(dx: number, dy: number): void {
    const by = 1 / this.unit;
    for (let axis = 0; axis < 3; axis += 1) {
      this.target[axis]! += (-this.basis[axis]! * dx + this.basis[3 + axis]! * dy) * by;
    }
  }

  zoom(factor: number, least: number, most: number): void {
    this.distance = Math.min(Math.max(this.distance * factor, least), most);
  }
}
