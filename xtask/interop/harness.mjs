// What every Node.js client script needs, whichever package speaks the protocol and whatever it is put through.
import assert from "node:assert/strict";

export const REVISIONS = { legacy: "2025-11-25", modern: "2026-07-28" };
const SCENARIOS = ["universe", "specs", "everything", "starmap", "chat"];
/** How long anything that must happen may take. Nothing waits that long when all is well. */
const PATIENCE_MS = 10_000;

/** Reads `--url URL` or `--command CMD ARGS…` (last), `--scenario NAME`, `--era legacy|modern` and `--suffix TEXT`. */
export function parseArguments(argv) {
  const options = { scenario: "universe", era: "legacy", suffix: "x" };
  for (let i = 0; i < argv.length; i += 1) {
    const name = argv[i];
    if (name === "--command") {
      [options.command, ...options.args] = argv.slice(i + 1);
      break;
    }
    assert.ok(["--url", "--scenario", "--era", "--suffix"].includes(name), `unknown argument ${name}`);
    options[name.slice(2)] = argv[(i += 1)];
  }
  assert.ok(options.url || options.command, "give --url URL or --command CMD ARGS…");
  assert.ok(options.era in REVISIONS, `--era is legacy or modern, not ${options.era}`);
  assert.ok(SCENARIOS.includes(options.scenario), `--scenario is one of ${SCENARIOS}, not ${options.scenario}`);
  return options;
}

/** Checks that are counted, and what a client cannot be put through, with the reason. */
class Checks {
  count = 0;
  cannot = [];

  ok(value, what) {
    assert.ok(value, what);
    this.count += 1;
  }

  equal(actual, expected, what) {
    assert.deepEqual(actual, expected, `${what}: ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
    this.count += 1;
  }

  match(actual, pattern, what) {
    assert.match(String(actual), pattern, `${what}: ${actual}`);
    this.count += 1;
  }

  /** The protocol error that `work` must end in; its code is one of `codes`. */
  async refused(work, codes, what) {
    const error = await work().then(
      (result) => assert.fail(`${what}: answered ${JSON.stringify(result)}`),
      (thrown) => thrown,
    );
    this.ok(codes.includes(error.code), `${what}: ${error.code} ${error.message}, expected ${codes}`);
    return error;
  }

  skip(what, reason) {
    this.cannot.push(`${what}: ${reason}`);
  }

  /** What the report tells of them. */
  facts() {
    return { checks: this.count, cannot: this.cannot };
  }
}

/** Messages in the order in which they came, and waiting for one that has not come yet. */
export class Inbox {
  messages = [];
  #waiting = new Set();

  push(message) {
    this.messages.push(message);
    for (const look of [...this.#waiting]) look();
  }

  /** All that came so far of one method. */
  of(method) {
    return this.messages.filter((message) => message.method === method).map((message) => message.params);
  }

  /** Waits until `count` messages of the method are there, and gives them back. */
  some(method, count = 1) {
    return within(
      `${count} of ${method}`,
      new Promise((resolve) => {
        const look = () => {
          if (this.of(method).length < count) return;
          this.#waiting.delete(look);
          resolve(this.of(method));
        };
        this.#waiting.add(look);
        look();
      }),
    );
  }
}

/** Waits for a promise, but not forever. */
export async function within(what, promise, patience = PATIENCE_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not after ${patience / 1000} s`)), patience);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The checks of this process: a script is one run. */
export const check = new Checks();

/** Prints one line of JSON and exits: 0 when `work` came through, 1 when not. */
export async function report(name, options, work) {
  const { scenario, era, url } = options;
  const head = { client: name, scenario, era, transport: url ? "http" : "stdio" };
  try {
    console.log(JSON.stringify({ ...head, ok: true, ...(await work()), ...check.facts() }));
    process.exit(0);
  } catch (error) {
    // What follows the first line is a picture of the difference; it is told on stderr.
    const [told] = String(error?.message ?? error).split("\n");
    console.log(JSON.stringify({ ...head, ok: false, error: told }));
    console.error(error);
    process.exit(1);
  }
}
