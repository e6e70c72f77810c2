// The processes of the demo. Neither they nor its folder outlive it, however it ends.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();

/** A folder for the store, deleted when the demo ends. */
export const folder = mkdtempSync(join(tmpdir(), "latchkey-demo-"));

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

// The demo must not use the user's own key rings and store.
for (const name of Object.keys(process.env)) {
  if (name.startsWith("LATCHKEY_")) delete process.env[name];
}

// The command line next to the resolved library: compiled, or as source.
const library = import.meta.resolve("latchkey");
const cli = new URL(library.endsWith(".ts") ? "cli.ts" : "cli.js", library);

/** Runs `latchkey` with these arguments, and returns its output. @param {readonly string[]} args */
export async function latchkeyCommand(args) {
  const child = run(cli, args);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const [exitCode] = await once(child, "close");
  if (exitCode !== 0) throw new Error(`latchkey ${args[0]} ended with ${exitCode}`);
  return output.trim();
}

/** Starts `latchkey serve`. @param {string} store */
export function startManagement(store) {
  return started(run(cli, ["serve", "--store", store, "--port", "0"]));
}

/** Starts the server of example 02. @param {string} store @param {string} apiId */
export function startService(store, apiId) {
  const program = new URL("../02-node-server/main.mjs", import.meta.url);
  return started(run(program, [], { STORE_URL: store, API_ID: apiId, PORT: "0" }));
}

/**
 * Runs a program with the same options as this process.
 *
 * @param {URL} program
 * @param {readonly string[]} args
 * @param {Record<string, string>} [env]
 */
function run(program, args, env = {}) {
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(program), ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  child.once("close", () => children.delete(child));
  return child;
}

/**
 * Resolves to a server once it has printed its address.
 *
 * @param {import("node:child_process").ChildProcessByStdio<null, import("node:stream").Readable, null>} child
 */
async function started(child) {
  const ended = once(child, "close");
  const reader = createInterface({ input: child.stdout });
  const first = await Promise.race([once(reader, "line"), ended.then(() => null)]);
  if (first === null) throw new Error("a server ended before it was ready");
  return {
    url: String(first[0]),
    pid: child.pid,
    /** Ends it, and returns its exit code and the signal that killed it. @param {NodeJS.Signals} signal */
    async end(signal) {
      child.kill(signal);
      const [exitCode, killedBy] = await ended;
      return killedBy ?? `exit code ${exitCode}`;
    },
  };
}
