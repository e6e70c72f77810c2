import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createLatchkey } from "@latchkey/core";
import pg from "pg";
import { expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { PATIENT, startServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

// TAKEN=100000 npx vitest run --config vitest.workspace.ts --project drills postgres/src/holds --reporter=verbose
const TAKEN = Number(process.env.TAKEN ?? 400);
const PROCESSES = 4;
const WORKER = fileURLToPath(new URL("../dist/testing/reserver.worker.js", import.meta.url));
const USES = 1_000_000;
/** Uses that calls without an answer may have taken: two for each call in flight when its process or the server was killed. */
const MOST_UNKNOWN = 2 * 8 * (1 + 2 * PROCESSES);
const LIMIT = { limit: USES, duration: 3_600_000_000, autoApply: true };

describeWithServers("processes that reserve, settle, verify and change the same keys", () => {
  test("never wait in a circle, and lose no use for good when they or the server are killed", {
    timeout: 1_800_000,
  }, async () => {
    const server = await startServer({ fsync: "off", deadlock_timeout: "50ms" });
    const store = postgresStore(server.url, PATIENT);
    const latchkey = createLatchkey({ store, usage: false });
    const workers: ChildProcess[] = [];
    try {
      const { apiId } = await latchkey.createApi({ name: "tiles" });
      const owners = ["one", "other"];
      for (const externalId of owners)
        await latchkey.createIdentity({
          externalId,
          ratelimits: [{ name: "shared", ...LIMIT, algorithm: "token-bucket" }],
        });
      const keys: { key: string; keyId: string; owner: string }[] = [];
      for (let number = 0; number < 5; number += 1) {
        const owner = owners[number % 2] ?? "";
        const ratelimits = [
          { name: "own", ...LIMIT },
          { name: "sliding", ...LIMIT, algorithm: "sliding" } as const,
        ];
        const made = await latchkey.createKey({
          apiId,
          externalId: owner,
          remaining: USES,
          ratelimits,
        });
        keys.push({ key: made.key, keyId: made.keyId, owner });
      }
      const told: number[] = keys.map(() => 0);
      const wrong: string[] = [];
      const start = (seed: number) => {
        const given = JSON.stringify({ apiId, keys, seed });
        const worker = spawn(process.execPath, [WORKER, server.url, given], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        workers.push(worker);
        let rest = "";
        worker.stdout?.setEncoding("utf8").on("data", (text: string) => {
          const lines = `${rest}${text}`.split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines)
            if (line.startsWith("!")) wrong.push(line);
            else told[Number(line)] = (told[Number(line)] ?? 0) + 1;
        });
        return worker;
      };
      const untilMore = async (count: number) => {
        const wanted = sum(told) + count;
        while (sum(told) < wanted && wrong.length === 0)
          await new Promise((resolve) => setTimeout(resolve, 20));
      };
      const running = Array.from({ length: PROCESSES }, (_, index) => start(index + 1));
      await untilMore(TAKEN / 3);
      await kill(running[0] as ChildProcess);
      start(PROCESSES + 1);
      await untilMore(TAKEN / 3);
      const deadlocks = await deadlocksOf(server.url);
      await server.crash();
      await server.start();
      await untilMore(TAKEN / 3);
      for (const worker of workers) await kill(worker);

      expect(wrong).toEqual([]);
      expect(deadlocks + (await deadlocksOf(server.url))).toBe(0);
      // Once everything reserved is over.
      const later = createLatchkey({ store, usage: false, clock: () => Date.now() + 600_000 });
      for (const [index, { keyId }] of keys.entries()) {
        const { remaining } = await later.getKey({ keyId });
        const taken = USES - Number(remaining);
        console.info({ key: index, told: told[index], taken });
        expect(taken).toBeGreaterThanOrEqual(told[index] ?? 0);
        // More than was told can only have been taken by calls without an answer, or by those of a killed process.
        expect(taken).toBeLessThanOrEqual((told[index] ?? 0) + MOST_UNKNOWN);
      }
      for (const externalId of owners) await later.getIdentity({ externalId });
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      const { rows } = await client.query(
        `SELECT (SELECT count(*)::int FROM latchkey.hold) AS holds,
          (SELECT count(*)::int FROM latchkey.counters WHERE holds IS NOT NULL) AS sums`,
      );
      await client.end();
      expect(rows).toEqual([{ holds: 0, sums: 0 }]);
    } finally {
      for (const worker of workers) worker.kill("SIGKILL");
      await store.close();
      await server.remove();
    }
  });
});

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);

async function kill(worker: ChildProcess): Promise<void> {
  if (worker.signalCode !== null) return;
  const ended = once(worker, "exit");
  worker.kill("SIGKILL");
  await ended;
}

async function deadlocksOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "SELECT sum(deadlocks)::int AS deadlocks FROM pg_stat_database",
  );
  await client.end();
  return rows[0].deadlocks;
}
