// What the view in a conversation takes from the page: `build.mjs` puts it into the view's script.

export { orbitOf, pointAtAngle, pointAtTime } from '../src/orbit';
