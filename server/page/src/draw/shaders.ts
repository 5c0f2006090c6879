// The programs of the GPU. A point comes relative to the camera's target; the projection is that of camera.ts.

import { STEPS } from './rings';

const PROJECTION = `#version 300 es
precision highp float;
uniform mat3 basis;      // rows: right, up, away
uniform vec4 eye;        // distance, focal length in pixels, width, height
vec4 put(vec3 p) {
  vec3 v = vec3(dot(basis[0], p), dot(basis[1], p), dot(basis[2], p) + eye.x);
  float near = eye.x * 1e-4;
  // Depth by its logarithm: sixteen powers of two on either side of the target.
  float z = clamp(log2(max(v.z, near) / eye.x) / 16.0, -1.0, 1.0);
  return vec4(v.x * eye.y * 2.0 / eye.z, v.y * eye.y * 2.0 / eye.w, z * v.z, v.z);
}
`;

export const LINES = {
  vertex: `${PROJECTION}
layout(location = 0) in vec3 point;
layout(location = 1) in vec4 color;
uniform vec3 origin;
uniform vec4 paint;      // replaces the colour where its alpha is above zero
out vec4 shade;
void main() {
  gl_Position = put(point + origin);
  shade = paint.a > 0.0 ? paint : color;
}`,
  fragment: `#version 300 es
precision mediump float;
in vec4 shade;
out vec4 result;
void main() { result = vec4(shade.rgb * shade.a, shade.a); }`,
};

/** Kinds of sprites. */
export const BALL = 0, STAR = 1, HOLE = 2, CROSS = 3, GLOW = 4;

export const SPRITES = {
  vertex: `${PROJECTION}
layout(location = 0) in vec4 place;   // relative place, radius in pixels
layout(location = 1) in vec4 color;   // colour and kind
layout(location = 2) in vec3 light;   // the way to the light on the screen, alpha
out vec2 at;
flat out vec4 shade;
flat out vec3 lit;
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  gl_Position = put(place.xyz);
  gl_Position.xy += at * (place.w + 1.0) * 2.0 / eye.zw * gl_Position.w;
  at *= (place.w + 1.0) / place.w;
  shade = color;
  lit = light;
}`,
  fragment: `#version 300 es
precision highp float;
in vec2 at;
flat in vec4 shade;
flat in vec3 lit;
uniform float dark;
out vec4 result;
void main() {
  int kind = int(shade.a + 0.5);
  float d = length(at);
  if (kind == 4) {
    float glow = pow(max(1.0 - d, 0.0), 2.0) * lit.z;
    result = vec4(shade.rgb * glow, glow);
    return;
  }
  float width = fwidth(d);
  if (kind == 3) {
    float line = min(abs(at.x), abs(at.y));
    if (line > width || d > 1.0) discard;
    result = vec4(shade.rgb, 1.0) * 0.8;
    return;
  }
  float cover = 1.0 - smoothstep(1.0 - width, 1.0 + width * 0.5, d);
  if (cover < 0.02) discard;
  vec3 color = shade.rgb;
  if (kind == 0 && width < 0.4) {
    vec3 n = vec3(at, sqrt(max(1.0 - d * d, 0.0)));
    float diffuse = dot(n, normalize(vec3(lit.xy, 0.55)));
    color = mix(color * 0.25, color * 1.12 + 0.05, smoothstep(-0.35, 0.9, diffuse));
  }
  if (kind == 1) color = mix(shade.rgb, vec3(1.0), 0.35 * (1.0 - d) * dark);
  if (kind == 2) color = mix(vec3(0.0), shade.rgb, smoothstep(0.82, 0.95, d));
  if (dark < 0.5) color = mix(color, vec3(0.1), 0.35 * smoothstep(1.0 - 2.5 * width, 1.0 - width, d));
  result = vec4(color * cover, cover);
}`,
};

export const GRAINS = {
  vertex: `${PROJECTION}
layout(location = 0) in vec4 grain;
uniform vec3 origin;
uniform vec2 lanes[8];
uniform vec4 first;
uniform vec4 second;
uniform float size;
out vec4 shade;
void main() {
  vec2 turn = lanes[int(grain.w)];
  vec3 p = vec3(grain.x * turn.x - grain.z * turn.y, grain.y, grain.x * turn.y + grain.z * turn.x);
  gl_Position = put(p + origin);
  gl_PointSize = size;
  shade = (gl_VertexID & 1) == 0 ? first : second;
}`,
  fragment: LINES.fragment,
};

/** A body with a surface, alone: the same as `globes.ts` paints for a plain canvas. */
export const GLOBES = {
  vertex: `${PROJECTION}
uniform vec3 origin;
uniform float radius;    // pixels
out vec2 at;
void main() {
  at = (vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0) * (radius + 1.0) / radius;
  gl_Position = put(origin);
  gl_Position.xy += at * radius * 2.0 / eye.zw * gl_Position.w;
}`,
  fragment: `#version 300 es
precision highp float;
in vec2 at;
uniform sampler2D skin;
uniform mat3 turn;       // rows, as they are given: the eye's directions to the body's own
uniform vec4 light;      // the way to it; w: how much the night has
uniform vec3 ring;       // from, to, whether there is one
uniform float profile[${STEPS}];
out vec4 result;
void main() {
  float d = dot(at, at), width = fwidth(sqrt(d));
  float cover = 1.0 - smoothstep(1.0 - width, 1.0 + width * 0.5, sqrt(d));
  if (cover < 0.02) discard;
  float z = sqrt(max(1.0 - d, 0.0));
  vec3 p = vec3(at, z) * turn;
  vec2 where = vec2(atan(p.y, p.x) / 6.2831853, acos(clamp(p.z, -1.0, 1.0)) / 3.1415927);
  // Without a step where the map meets itself.
  vec3 color = textureLod(skin, where, 0.0).rgb;
  float lit = 0.72 + 0.28 * z;
  if (light.w < 1.0) {
    float facing = dot(p, light.xyz);
    lit = facing > 0.0 ? 1.0 - (1.0 - facing) * (1.0 - facing) * 0.9 : 0.0;
    if (ring.z > 0.0 && p.z * light.z < 0.0) {
      float far = length(p.xy - light.xy * p.z / light.z), across = (far - ring.x) / (ring.y - ring.x);
      if (across >= 0.0 && across < 1.0) lit *= 1.0 - 0.75 * profile[int(across * ${STEPS}.0)];
    }
    lit = mix(light.w, 1.0, lit);
  }
  result = vec4(color * lit * cover, cover);
}`,
};

/** How many steps a ring has round. */
export const RING_STEPS = 192;

export const RINGS = {
  vertex: `${PROJECTION}
uniform vec3 origin;
uniform vec3 u;
uniform vec3 v;
uniform vec2 radii;
uniform float own;       // the radius of the body
out float across;
out vec3 at;             // in its equator, by its radius
void main() {
  float angle = float(gl_VertexID >> 1) * ${(2 * Math.PI / RING_STEPS).toFixed(8)};
  across = float(gl_VertexID & 1);
  float r = mix(radii.x, radii.y, across);
  at = vec3(cos(angle), sin(angle), 0.0) * r / own;
  gl_Position = put(origin + r * (u * cos(angle) + v * sin(angle)));
}`,
  fragment: `#version 300 es
precision highp float;
in float across;
in vec3 at;
uniform vec4 light;      // the way to it; w: how much of it shadows have
uniform vec4 first;
uniform vec4 second;
uniform float profile[${STEPS}];
out vec4 result;
void main() {
  vec4 color = mix(first, second, across);
  float alpha = color.a * profile[min(int(across * ${STEPS}.0), ${STEPS - 1})] * smoothstep(0.0, 0.01, across) * (1.0 - smoothstep(0.99, 1.0, across));
  float along = dot(at, light.xyz);
  if (along < 0.0 && dot(at, at) - along * along < 1.0) color.rgb *= light.w;
  result = vec4(color.rgb * alpha, alpha);
}`,
};
