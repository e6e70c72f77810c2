import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { createLatchkey } from "@latchkey/core";
import {
  ask,
  describeWithPostgres,
  startServer as startPostgres,
} from "@latchkey/postgres/testing";
import { describeWithRedis, startServer as startRedis } from "@latchkey/redis/testing";
import { describe, expect, test } from "vitest";
import { openStore } from "../src/open-store.js";
import { PACKAGE_FOLDER } from "../src/testing/pages.js";
import { tempFolder } from "../src/testing/temp-folder.js";
import { chanceOf } from "./chance.js";
import { DAY_MS } from "./test-context.js";

/** Number of processes to kill. */
const KILLS = Number(process.env.LATCHKEY_USAGE_KILLS ?? 2);
const KEYS = 3;
const GRANTED = 1_000_000;

/** Verifies, reserves and settles without pause. It prints each request that it starts, and when it has completed some. */
const WORKER = `
import { createLatchkey, openStore } from ${JSON.stringify(pathToFileURL(join(PACKAGE_FOLDER, "dist", "index.js")).href)};
const [url, name, ...keys] = process.argv.slice(2);
const latchkey = createLatchkey({ store: openStore(url), usage: { durable: true } });
let [number, done] = [0, 0];
const one = async (key, at) => {
  const [cost, requestId] = [number % 4, name + " " + (number += 1)];
  if (number % 3 === 0) {
    const { reservationId } = await latchkey.reserve({ key, remaining: { cost: 3 }, ttl: 60_000 });
    await latchkey.settle({ reservationId, remaining: { cost } });
  } else {
    process.stdout.write([at, cost, requestId].join(":") + "\\n");
    await latchkey.verifyKey({ key, remaining: { cost }, requestId });
  }
  done += 1;
  if (done === 40) process.stdout.write("some\\n");
};
const forever = async (key, at) => {
  for (;;) await one(key, at);
};
await Promise.all(keys.map(forever));
`;

/** `untilEnded`: waits until the store has completed the statements of killed processes. */
async function drill(url: string, seed: number, untilEnded = async () => {}): Promise<void> {
  const chance = chanceOf(seed);
  const program = join(tempFolder(), "worker.mjs");
  writeFileSync(program, WORKER);
  const latchkey = createLatchkey({ store: openStore(url), usage: { durable: true } });
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const made = await Promise.all(
    Array.from({ length: KEYS }, () => latchkey.createKey({ apiId, remaining: GRANTED })),
  );
  const keys = made.map(({ key = "", keyId }) => ({ key, keyId }));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const args = [program, url, `process ${kill}`, ...keys.map(({ key }) => key)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    let told = "";
    child.stdout.setEncoding("utf8");
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (text: string) => {
        told += text;
        if (told.includes("some\n")) resolve();
      });
      child.once("exit", resolve);
    });
    await pause(chance.below(40));
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    // Repeats requests without an answer. Some of them were charged, others not.
    for (const line of told.split("\n").slice(-5, -1)) {
      const [at, cost, requestId = ""] = line.split(":");
      const key = keys[Number(at)]?.key;
      if (key !== undefined && requestId !== "")
        await latchkey.verifyKey({ key, remaining: { cost: Number(cost) }, requestId });
    }
  }
  await latchkey.close();
  await untilEnded();
  const later = createLatchkey({ store: openStore(url), clock: () => Date.now() + 2 * DAY_MS });
  const range = { start: later.now() - 4 * DAY_MS, end: later.now(), granularity: "day" } as const;
  let total = 0;
  const { rows } = await later.exportUsage({ ...range, by: "key" });
  for (const { keyId } of keys) {
    const { remaining } = await later.getKey({ keyId });
    const uses = rows.filter((row) => row.keyId === keyId).reduce((sum, row) => sum + row.uses, 0);
    expect(uses).toBe(GRANTED - Number(remaining));
    total += uses;
  }
  const ofApi = await later.exportUsage({ ...range, by: "api" });
  expect(ofApi.rows.reduce((sum, row) => sum + row.uses, 0)).toBe(total);
  expect(total).toBeGreaterThan(KILLS * 10);
  await later.close();
}

describe("V1: of processes that are killed, the rows of durable usage have every use that was taken, once", () => {
  const SEED = 20_261_123;

  test(`on SQLite (seed ${SEED})`, () => drill(`sqlite:${join(tempFolder(), "keys.db")}`, SEED));

  describeWithRedis("on Redis", () => {
    test(`(seed ${SEED})`, async () => {
      const server = await startRedis();
      try {
        await drill(server.url, SEED);
      } finally {
        await server.remove();
      }
    });
  });

  describeWithPostgres("on PostgreSQL", () => {
    test(`(seed ${SEED})`, async () => {
      const server = await startPostgres({ fsync: "off" });
      // PostgreSQL completes the statements of a client that is gone, even between two reads of this test.
      const others =
        "SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
      const untilEnded = () => expect.poll(() => ask(server, others)).toHaveLength(0);
      try {
        await drill(server.url, SEED, untilEnded);
      } finally {
        await server.remove();
      }
    });
  });
});
