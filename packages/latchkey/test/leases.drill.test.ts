import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { createLatchkey, type Latchkey } from "@latchkey/core";
import { describeWithPostgres, startServer as startPostgres } from "@latchkey/postgres/testing";
import { describeWithRedis, startServer as startRedis } from "@latchkey/redis/testing";
import { describe, expect, test } from "vitest";
import { openStore } from "../src/open-store.js";
import { PACKAGE_FOLDER } from "../src/testing/pages.js";
import { tempFolder } from "../src/testing/temp-folder.js";
import { chanceOf } from "./chance.js";

const LEASE_MS = 100;
/** A longer run by LATCHKEY_LEASE_DRILL_MS. */
const RUN_MS = Number(process.env.LATCHKEY_LEASE_DRILL_MS ?? 3_000);
const KEYS = 4;

/** Verifies keys without pause, and tells of each when it began and ended, by the clock that all processes of the machine share. */
const WORKER = `
import { createLatchkey, openStore } from ${JSON.stringify(pathToFileURL(join(PACKAGE_FOLDER, "dist", "index.js")).href)};
const [url, ...keys] = process.argv.slice(2);
let leased = 0;
const onEvent = (event) => { if (event.leased) leased += 1; };
const latchkey = createLatchkey({ store: openStore(url), leases: { ms: ${LEASE_MS} }, onEvent });
let lines = [];
for (;;) {
  for (const [at, key] of keys.entries()) {
    const since = String(process.hrtime.bigint());
    try {
      const { valid } = await latchkey.verifyKey({ key });
      lines.push([since, process.hrtime.bigint(), at, valid ? 1 : 0].join(" "));
    } catch (error) {
      if (error.code !== "STORE_UNAVAILABLE") throw error;
    }
  }
  if (lines.length >= 200) {
    lines.push("leased " + leased);
    if (!process.stdout.write(lines.join("\\n") + "\\n")) await new Promise((done) => process.stdout.once("drain", done));
    lines = [];
    await new Promise((done) => setTimeout(done, 1));
  }
}
`;

/** Spans in which a key must not be admitted: from when a change resolved to when the one that brings it back began. */
type Spans = { readonly from: bigint; to: bigint | null }[];

async function drill(url: string, seed: number): Promise<void> {
  const chance = chanceOf(seed);
  const program = join(tempFolder(), "worker.mjs");
  writeFileSync(program, WORKER);
  const latchkey: Latchkey = createLatchkey({ store: openStore(url) });
  const { apiId } = await latchkey.createApi({ name: "maps" });
  const keys = await Promise.all(Array.from({ length: KEYS }, () => latchkey.createKey({ apiId })));
  const closed: Spans[] = keys.map(() => []);
  const seen = { admitted: 0, leased: 0, wrong: [] as string[] };
  const told: [since: bigint, until: bigint, at: number][] = [];
  const start = () => {
    const child = spawn(process.execPath, [program, url, ...keys.map(({ key }) => key)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [since = "", until = "", at, valid] = line.split(" ");
        if (since === "leased") seen.leased = Math.max(seen.leased, Number(until));
        else if (valid === "1") told.push([BigInt(since), BigInt(until), Number(at)]);
      }
    });
    return child;
  };
  const workers: ChildProcess[] = [start(), start(), start()];
  await Promise.all(workers.map(({ stdout }) => stdout && once(stdout, "data")));
  const end = performance.now() + RUN_MS;
  const disturb = async () => {
    while (performance.now() < end) {
      await pause(100 + chance.below(400));
      const at = chance.below(workers.length);
      const worker = workers[at] as ChildProcess;
      if (chance.below(3) === 0) {
        worker.kill("SIGKILL");
        const next = start();
        workers[at] = next;
        await once(next.stdout, "data");
      } else {
        worker.kill("SIGSTOP");
        await pause(50 + chance.below(250));
        worker.kill("SIGCONT");
      }
    }
  };
  const change = async () => {
    while (performance.now() < end) {
      const at = chance.below(KEYS);
      const { keyId = "" } = keys[at] ?? {};
      await latchkey.updateKey({ keyId, enabled: false });
      const span = { from: process.hrtime.bigint(), to: null as bigint | null };
      closed[at]?.push(span);
      await pause(chance.below(50));
      span.to = process.hrtime.bigint();
      await latchkey.updateKey({ keyId, enabled: true });
    }
  };
  await Promise.all([disturb(), change()]);
  for (const worker of workers) {
    worker.kill("SIGKILL");
    if (worker.exitCode === null && worker.signalCode === null) await once(worker, "exit");
  }
  for (const [since, until, at] of told) {
    seen.admitted += 1;
    // One that ends after the key is on its way back may have met it.
    for (const { from, to } of closed[at] ?? [])
      if (since > from && (to === null || until < to)) seen.wrong.push(`key ${at} at ${since}`);
  }
  await latchkey.close();
  expect(seen.wrong).toEqual([]);
  expect(closed.flat().length).toBeGreaterThan(1);
  expect(seen.admitted).toBeGreaterThan(100);
  expect(seen.leased).toBeGreaterThan(0);
}

describe("E2: three processes with leases, killed and stopped, admit no key after its revocation has resolved", () => {
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
      try {
        await drill(server.url, SEED);
      } finally {
        await server.remove();
      }
    });
  });
});
