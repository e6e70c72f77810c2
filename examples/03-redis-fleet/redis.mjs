// A Redis for this example: the one at REDIS_URL, or a server that runs as long as the example.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * @returns {Promise<{ url: string, stop: () => void }>}
 */
export async function findRedis() {
  const { REDIS_URL } = process.env;
  if (REDIS_URL !== undefined) return { url: REDIS_URL, stop: () => {} };
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "latchkey-fleet-"));
  const flags = [
    "--port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--appendonly",
    "yes",
  ];
  const child = spawn("redis-server", flags, { stdio: ["ignore", "pipe", "inherit"] });
  const missing = once(child, "error").then(() => {
    throw new Error("no Redis: set REDIS_URL, or put redis-server 7 or later on the PATH");
  });
  await Promise.race([missing, ready(child.stdout)]);
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: () => {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** @param {import("node:stream").Readable} output */
async function ready(output) {
  await new Promise((resolve) => {
    output.setEncoding("utf8").on("data", (text) => {
      if (text.includes("Ready to accept connections")) resolve(undefined);
    });
  });
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        resolve(typeof address === "object" && address !== null ? address.port : 0),
      );
    });
  });
}
