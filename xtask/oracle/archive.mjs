// OpenSpec's own `archive` on many projects in one process: starting it for each would take minutes.
//
// Reads lines of `archive<TAB>FOLDER<TAB>CHANGE` and `validate<TAB>FILE`, and answers each with a line of JSON:
// `{"yes": whether it is archived or valid, "said": what was printed}`.

import { readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { ArchiveCommand } from './node_modules/@fission-ai/openspec/dist/core/archive.js';
import { Validator } from './node_modules/@fission-ai/openspec/dist/core/validation/validator.js';

let said = [];
for (const name of ['log', 'info', 'warn', 'error']) {
  console[name] = (...words) => said.push(words.join(' '));
}

async function archive(folder, change) {
  process.chdir(folder);
  await new ArchiveCommand().execute(change, { yes: true });
  return !existsSync(join(folder, 'openspec', 'changes', change));
}

async function validate(file) {
  const report = await new Validator().validateSpec(file);
  said.push(...report.issues.map((issue) => `${issue.level} ${issue.message}`));
  return report.valid;
}

for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const [verb, ...rest] = line.split('\t');
  said = [];
  let yes = false;
  try {
    yes = await (verb === 'archive' ? archive(...rest) : validate(...rest));
  } catch (error) {
    said.push(String(error));
  }
  process.stdout.write(JSON.stringify({ yes, said }) + '\n');
}
process.exit(0);
