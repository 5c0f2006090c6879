// Runs the tests of the page: `node tests/run.mjs --server PATH [--chromium PATH] [--results DIR] [--only NAME]`.

import access from './access.mjs';
import actions from './actions.mjs';
import apart from './apart.mjs';
import door from './door.mjs';
import figures from './figures.mjs';
import { ONLY, counted, finish } from './harness.mjs';
import look from './look.mjs';
import others from './others.mjs';
import positions from './positions.mjs';

let failed = false;
for (const [name, test] of Object.entries({ positions, apart, door, actions, others, access, look, figures })) {
  if (ONLY && ONLY !== name) continue;
  const begun = Date.now(), before = counted();
  try {
    await test();
    console.log(`${name}: ${counted() - before} checks, ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  } catch (error) {
    failed = true;
    console.log(`${name}: FAILED\n${error.stack}`);
  } finally {
    await finish();
  }
}
process.exit(failed ? 1 : 0);
