import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { redisStore } from "./index.js";
import { createChance } from "./testing/chance.js";
import { until, untilAnswered } from "./testing/errors.js";
import { Journals, type Told } from "./testing/journal.js";
import { PATIENT, startServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

// KILLS=60 npx vitest run --config vitest.workspace.ts --project drills redis/src/kills --reporter=verbose
const WORKER_KILLS = Number(process.env.KILLS ?? 2);
const SERVER_KILLS = WORKER_KILLS / 2;

const WORKER = fileURLToPath(new URL("../dist/testing/hammer.worker.js", import.meta.url));
const SHARED_USES = 1_000_000;
const SMALL_KEYS = 200;
const SMALL_USES = 3;

/**
 * With `everysec`, Redis answers before it has written its log while a flush to the disk is running, for up to two seconds: a killed
 * process takes those writes along.
 */
const UNWRITTEN_MS = { always: 0, everysec: 3_000 };

describeWithServers("two processes and their server, killed at random", () => {
  test.each(["always", "everysec"] as const)(
    "appendfsync %s: nothing is admitted twice, and no answer is lost that the server had written down",
    async (appendfsync) => {
      const server = await startServer({ appendfsync });
      const folder = mkdtempSync(join(tmpdir(), "latchkey-journals-"));
      const store = redisStore(server.url, PATIENT);
      const latchkey = createLatchkey({ store });
      const chance = createChance(WORKER_KILLS);
      const journals = new Journals();
      let workers: ChildProcess[] = [];
      try {
        const { apiId } = await latchkey.createApi({ name: "payments" });
        const shared = await latchkey.createKey({ apiId, remaining: SHARED_USES });
        const small = await Promise.all(
          Array.from({ length: SMALL_KEYS }, () =>
            latchkey.createKey({ apiId, remaining: SMALL_USES }),
          ),
        );
        const keys = [shared, ...small];
        const start = () => {
          const journal = join(folder, randomUUID());
          journals.add(journal);
          return startWorker([server.url, journal, ...keys.map(({ key }) => key)]);
        };
        workers = [start(), start()];

        const revoked: { readonly key: string; readonly at: number }[] = [];
        const serverKills: number[] = [];
        for (let kill = 0; kill < WORKER_KILLS + SERVER_KILLS; kill += 1) {
          const { admitted } = journals;
          const more = 50 + Math.floor(chance() * 200);
          await until(async () => journals.admitted >= admitted + more, 60_000);
          const { key, keyId } = await untilAnswered(() => latchkey.createKey({ apiId }));
          await untilDeleted(() => latchkey.deleteKey({ keyId }));
          revoked.push({ key, at: Date.now() });
          if (kill % 3 === 2) {
            await server.stop("SIGKILL");
            serverKills.push(Date.now());
            await server.start();
          } else {
            const [victim] = workers.splice(Math.floor(chance() * workers.length), 1);
            await kill9(victim);
            workers.push(start());
          }
        }
        const { admitted } = journals;
        await until(async () => journals.admitted >= admitted + 100, 60_000);
        await Promise.all(workers.map(kill9));
        workers = [];

        const answered = journals.admitted;
        journals.close();
        const isAtRisk = (at: number) =>
          serverKills.some((killed) => at <= killed && at >= killed - UNWRITTEN_MS[appendfsync]);
        let lost = 0;
        let unknown = 0;
        for (const [number, { keyId }] of keys.entries()) {
          const granted = number === 0 ? SHARED_USES : SMALL_USES;
          const left = Number((await untilAnswered(() => latchkey.getKey({ keyId }))).remaining);
          unknown += journals.told(number).unknown;
          lost += checkKey(journals.told(number), granted, left, isAtRisk);
        }
        for (const { key, at } of revoked) {
          const verdict = await latchkey.verifyKey({ key });
          if (verdict.valid) expect(isAtRisk(at)).toBe(true);
        }
        console.info(
          `appendfsync ${appendfsync}: ${WORKER_KILLS} processes and ${SERVER_KILLS} servers killed; of ${answered} uses answered ` +
            `${lost} were lost; ${unknown} unknown, ${revoked.length} keys revoked`,
        );
        if (appendfsync === "always") expect(lost).toBe(0);
      } finally {
        await Promise.all(workers.map(kill9));
        await store.close();
        await server.remove();
        rmSync(folder, { recursive: true, force: true });
      }
    },
    30_000 * Math.max(10, WORKER_KILLS / 3),
  );
});

/**
 * Compares what callers were told about one key with what the server has taken.
 *
 * @param isAtRisk - Whether an answer of this instant may be lost together with the server's process.
 * @returns How many uses were answered and lost.
 */
function checkKey(
  { admitted, unknown }: Told,
  granted: number,
  left: number,
  isAtRisk: (at: number) => boolean,
): number {
  const safe = admitted.filter(({ at }) => !isAtRisk(at));
  const taken = granted - left;
  expect(left).toBeGreaterThanOrEqual(0);
  expect(safe.length).toBeLessThanOrEqual(taken);
  expect(new Set(safe.map(({ remaining }) => remaining)).size).toBe(safe.length);
  expect(taken).toBeLessThanOrEqual(admitted.length + unknown);
  return Math.max(0, admitted.length - taken);
}

/** A deletion that was applied without its answer finds nothing when it is repeated. */
async function untilDeleted(deletion: () => Promise<unknown>): Promise<void> {
  await untilAnswered(async () => {
    try {
      await deletion();
    } catch (error) {
      if (!(error instanceof LatchkeyError) || error.code !== "NOT_FOUND") throw error;
    }
  }, 60_000);
}

function startWorker(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [WORKER, ...args], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

async function kill9(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
