#!/usr/bin/env node
// Starts the program that the package for this platform carries, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");

const program = process.platform === "win32" ? "mcp-conformance.exe" : "mcp-conformance";
const carrier = `mcp-conformance-${process.platform}-${process.arch}`;

let path;
try {
  path = require.resolve(`${carrier}/bin/${program}`);
} catch {
  console.error(
    `mcp-conformance: there is no program for ${process.platform} on ${process.arch}. ` +
      `Install without --omit=optional, or build it with cargo install mcp-conformance.`,
  );
  process.exit(2);
}

const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// A recording is written at the end, so the program has to receive what ends this one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`mcp-conformance: cannot start ${path}: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
