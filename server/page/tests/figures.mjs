// What it costs: bytes, the time to the first picture, and pictures in a second where the processor draws them.
//
// Times are told and not judged: they are of this machine.

import { Server, browse, drawn, ok, stage } from './harness.mjs';
import { crowd } from './crowd.mjs';

export default async function figures() {
  const server = await Server.start('--demo');
  {
    const { page, browser } = await browse(`${server.url}/#sol`);
    await drawn(page);
    const told = await page.evaluate(() => {
      const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
      const own = all.filter(({ name }) => new URL(name).pathname === '/' || new URL(name).pathname.startsWith('/page/'));
      const sum = (list) => list.reduce((bytes, it) => bytes + it.encodedBodySize, 0);
      return { page: sum(own), all: sum(all), first: Math.round(performance.getEntriesByName('first-picture')[0].startTime) };
    });
    ok(told.page > 10_000 && told.page < 120_000, `the page has ${told.page} bytes`);
    console.log(`  page: ${told.page} bytes compressed; with the data of Sol ${told.all}; first picture after ${told.first} ms`);
    await browser.close();
  }
  for (const bodies of [1000, 10_000]) {
    const { id } = await server.ask('POST', '/universes', { name: `${bodies} bodies`, state: crowd(bodies, 100_000) });
    // Where the processor draws the page takes the canvas; that WebGL draws too is seen once.
    for (const draw of bodies === 1000 ? ['canvas', 'webgl'] : ['canvas']) {
      const { page, browser, faults } = await browse(`${server.url}/?draw=${draw}#${id}`, { calm: false, ...(draw === 'webgl' ? { gl: true, width: 900, height: 600 } : {}) });
      await drawn(page);
      ok((await stage(page)).bodies === String(bodies), 'all bodies are there');
      const first = await page.evaluate(() => Math.round(performance.getEntriesByName('first-picture')[0].startTime));
      await page.locator('.canvas').focus();
      await page.keyboard.press(' ');
      const gaps = await page.evaluate(() => new Promise((done) => {
        const times = [];
        const next = (now) => { times.push(now); if (now - times[0] < 2500 && times.length < 400) requestAnimationFrame(next); else done(times.slice(1).map((it, n) => it - times[n])); };
        requestAnimationFrame(next);
      }));
      gaps.sort((a, b) => a - b);
      const { renderer, took, detail } = await stage(page);
      const at = (part) => gaps[Math.floor(gaps.length * part)].toFixed(0);
      console.log(`  ${bodies} bodies, 100,000 particles, ${renderer} on the processor${draw === 'webgl' ? ' (900 × 600)' : ''}: a picture each ${at(0.5)} ms (95 %: ${at(0.95)} ms), ${took} ms of it ours, detail ${detail}; first picture after ${first} ms`);
      ok(gaps.length > 1, 'pictures follow each other');
      ok(faults.length === 0, faults.join());
      await browser.close();
    }
    await server.ask('DELETE', `/universes/${id}`);
  }
}
