// The server as a separate process, which never outlives the example.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/**
 * Starts the server on a store, and waits until it listens.
 *
 * @param {string} storeUrl
 */
export async function startServer(storeUrl) {
  const program = fileURLToPath(new URL("server.mjs", import.meta.url));
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, STORE_URL: storeUrl, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  const ended = once(child, "close").then(() => children.delete(child));
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return {
    url: String(url),
    /** @param {NodeJS.Signals} signal */
    async end(signal) {
      child.kill(signal);
      await ended;
    },
  };
}
