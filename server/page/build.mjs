// Builds the page into what the server embeds: `dist/`, the table of it in `../src/page/assets.rs`, and in the view in a
// conversation, `../src/mcp/view/view.html`, the line that `orbit.ts` makes and the digests of the policy.
//
// `node build.mjs` writes, `node build.mjs --check` compares with what is there, byte for byte. `PAGE_OUT` is the folder of
// the page whose `dist/` is meant, where this is a copy of it.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { gzip } from 'pako';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.env.PAGE_OUT ?? here;
const text = (path) => readFileSync(join(here, path), 'utf8');

/** A file as it is committed: its path from the page's folder, and its bytes. */
const files = new Map();
const assets = [];

const bundled = await build({
  entryPoints: [join(here, 'src/main.tsx'), join(here, 'src/style.css')],
  bundle: true, minify: true, format: 'esm', target: 'es2022', write: false, outdir: '/out', legalComments: 'none',
  charset: 'utf8', define: { 'process.env.NODE_ENV': '"production"' }, metafile: true, absWorkingDir: here,
});
const shared = await build({
  stdin: { contents: "export { orbitOf, pointAtAngle, pointAtTime } from './src/orbit'", resolveDir: here },
  bundle: true, minify: true, format: 'iife', globalName: 'places', target: 'es2022', write: false, charset: 'utf8', absWorkingDir: here,
});
const output = (end) => bundled.outputFiles.find(({ path }) => path.endsWith(end)).contents;

/** Takes a file in under a name with the hash of its content, and says which. */
function add(name, type, content) {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  const url = name === 'index.html' ? '/' : `/page/${name.replace(/(\.[a-z]+)$/, `-${hash}$1`)}`;
  assets.push({ url, name, type, hash });
  files.set(`dist/${name}`, Buffer.from(content));
  // Pure JavaScript without a time: every machine makes the same bytes.
  files.set(`dist/${name}.gz`, Buffer.from(gzip(content, { level: 9 })));
  return url;
}

const licences = licencesOf(Object.keys(bundled.metafile.inputs));
const banner = Buffer.from('/*! Contains Preact and its signals (MIT): see LICENSES.txt in the page\'s source, served at /page/licenses.txt */\n');
const names = {
  script: add('page.js', 'text/javascript; charset=utf-8', Buffer.concat([banner, output('main.js')])),
  style: add('page.css', 'text/css; charset=utf-8', output('style.css')),
  icon: add('icon.svg', 'image/svg+xml', Buffer.from(text('icon.svg'))),
};
add('index.html', 'text/html; charset=utf-8', Buffer.from(text('index.html').replace(/\{(\w+)\}/g, (_, name) => names[name])));
add('licenses.txt', 'text/plain; charset=utf-8', Buffer.from(licences));
const view = '../src/mcp/view/view.html';
files.set(view, Buffer.from(viewed(readFileSync(join(out, view), 'utf8'))));
files.set('../src/page/assets.rs', Buffer.from(table()));

/** The view with the orbits of the page, under a policy that names its script and its style by their digests. */
function viewed(html) {
  const [line] = /^.*var places=.*$/m.exec(html);
  html = html.replace(line, () => shared.outputFiles[0].text.trim());
  for (const tag of ['script', 'style']) {
    const [, inside] = new RegExp(`<${tag}>([^]*)</${tag}>`).exec(html);
    html = html.replace(new RegExp(`(?<=${tag}-src ')[^']*`), `sha256-${createHash('sha256').update(inside).digest('base64')}`);
  }
  return html;
}

/** The licences of the packages whose code is in the bundle. */
function licencesOf(inputs) {
  const packages = new Set(inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
  return [...packages].sort().map((name) => {
    const folder = `node_modules/${name}`;
    const { version, license } = JSON.parse(text(`${folder}/package.json`));
    const file = readdirSync(join(here, folder)).find((it) => /^licen[cs]e/i.test(it));
    return `${name} ${version} (${license})\n\n${file ? text(`${folder}/${file}`).trim() : license}\n`;
  }).join('\n----\n\n');
}

/** The table that the server compiles in. */
function table() {
  const one = ({ url, name, type, hash }) => `    Asset {
        path: ${JSON.stringify(name === 'licenses.txt' ? '/page/licenses.txt' : url)},
        content_type: ${JSON.stringify(type)},
        tag: ${JSON.stringify(hash)},
        text: include_bytes!("../../page/dist/${name}"),
        gzip: include_bytes!("../../page/dist/${name}.gz"),
    },
`;
  return `//! The files of the page, written by \`server/page/build.mjs\`: change them there.

use super::Asset;

/// All files of the page.
pub(super) const ASSETS: [Asset; ${assets.length}] = [
${assets.map(one).join('')}];
`;
}

if (process.argv.includes('--check')) {
  const wrong = [...files].filter(([path, content]) => {
    try { return !readFileSync(join(out, path)).equals(content); } catch { return true; }
  });
  for (const name of readdirSync(join(out, 'dist'))) {
    if (!files.has(`dist/${name}`)) wrong.push([`dist/${name}`]);
  }
  for (const [path] of wrong) console.error(`${path} is not what its source makes: run npm ci && npm run build in server/page`);
  process.exitCode = wrong.length ? 1 : 0;
  if (!wrong.length) console.log(`${files.size} files are what their source makes`);
} else {
  rmSync(join(out, 'dist'), { recursive: true, force: true });
  for (const [path, content] of files) {
    const to = join(out, path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, content);
  }
  for (const { url, name } of assets) {
    console.log(`${url}: ${files.get(`dist/${name}`).length} bytes, ${files.get(`dist/${name}.gz`).length} compressed`);
  }
  console.log(`written below ${relative(process.cwd(), out) || '.'}`);
}
