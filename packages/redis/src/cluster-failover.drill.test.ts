import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { redisStore } from "./index.js";
import { isSettledWithin, until } from "./testing/errors.js";
import { startReplicatedCluster, type TestCluster } from "./testing/redis-cluster.js";
import { describeWithServers } from "./testing/where.js";

// npx vitest run --config vitest.workspace.ts --project drills cluster-failover --reporter=verbose

const GRANTED = 1_000_000;
const SPENDERS = 4;
const TIMEOUTS = { commandTimeoutMs: 400, configTimeoutMs: 2_000 };
/** A call expires up to an eighth late, and a busy machine is slower than that. */
const LATEST_MS = TIMEOUTS.commandTimeoutMs * 1.125 + 2_000;

/** What the callers of one workspace were told. */
interface Told {
  readonly admitted: number[];
  /** How many of them the killed primary admitted; null before the kill is felt. */
  byTheFirst: number | null;
  unknown: number;
  failed: number;
  /** Failures in which a server refused, and did not just answer late. */
  refused: number;
  late: number;
  lastFailedAt: number;
}

describeWithServers("a Redis Cluster that loses a primary while keys are verified", () => {
  // With full coverage, the default of Redis, the remaining primaries refuse everything until all slots are served again.
  test.each([{ fullCoverage: "no" }, { fullCoverage: "yes" }])(
    "full coverage $fullCoverage: errors are typed and in time, and the same store recovers",
    async ({ fullCoverage }) => {
      const cluster = await startReplicatedCluster(3, {
        "cluster-require-full-coverage": fullCoverage,
      });
      const store = redisStore(cluster.url, TIMEOUTS);
      let isOver = false;
      let isKilled = false;
      let spending: Promise<unknown> = Promise.resolve();
      try {
        const keys = await Promise.all(
          (await workspacePerPrimary(cluster)).map(async (workspaceId) => {
            const latchkey = createLatchkey({ store, workspaceId });
            const { apiId } = await latchkey.createApi({ name: "payments" });
            return { latchkey, ...(await latchkey.createKey({ apiId, remaining: GRANTED })) };
          }),
        );
        const told = keys.map(
          (): Told => ({
            admitted: [],
            byTheFirst: null,
            unknown: 0,
            failed: 0,
            refused: 0,
            late: 0,
            lastFailedAt: 0,
          }),
        );
        const spend = async (number: number) => {
          const { latchkey, key } = keys[number] as (typeof keys)[0];
          const mine = told[number] as Told;
          while (!isOver) {
            const call = latchkey.verifyKey({ key });
            if (!(await isSettledWithin(LATEST_MS, call))) mine.late += 1;
            try {
              const verdict = await call;
              expect(verdict.valid).toBe(true);
              if (verdict.valid) mine.admitted.push(Number(verdict.remaining));
            } catch (error) {
              expect(error).toBeInstanceOf(LatchkeyError);
              const { code, outcome, message } = error as LatchkeyError;
              expect(code).toBe("STORE_UNAVAILABLE");
              mine.failed += 1;
              if (!message.includes("did not answer in time")) mine.refused += 1;
              // All answers of the killed primary were read before its connection was found closed.
              if (isKilled) mine.byTheFirst ??= mine.admitted.length;
              mine.lastFailedAt = performance.now();
              if (outcome === "unknown") mine.unknown += 1;
            }
            await new Promise((resolve) => setTimeout(resolve, 2));
          }
        };
        spending = Promise.all(
          Array.from({ length: SPENDERS * keys.length }, (_, number) =>
            spend(number % keys.length),
          ),
        );
        spending.catch(() => undefined);
        // A spender that fails ends the wait, since it will do nothing more.
        const untilSpent = (isSo: () => boolean) =>
          Promise.race([until(async () => isSo(), 60_000), spending]);
        const [struck, ...others] = told as [Told, ...Told[]];
        const untilAllReach = (count: number) =>
          untilSpent(() => told.every(({ admitted }) => admitted.length >= count));

        await untilAllReach(100);
        const before = struck.admitted.length;
        isKilled = true;
        const killedAt = performance.now();
        await cluster.servers[0]?.stop("SIGKILL");
        await untilSpent(() => struck.failed > 0);
        await untilSpent(() => struck.admitted.length > before + SPENDERS);
        const outageMs = Math.max(...told.map(({ lastFailedAt }) => lastFailedAt)) - killedAt;
        await untilAllReach(before + 200);
        isOver = true;
        await spending;

        for (const [number, { latchkey, keyId }] of keys.entries()) {
          const { admitted, unknown, late } = told[number] as Told;
          const taken = GRANTED - Number((await latchkey.getKey({ keyId })).remaining);
          const lost = lostOf(told[number] as Told);
          if (number > 0) expect(lost).toBe(0);
          expect(admitted.length).toBeLessThanOrEqual(taken + lost);
          expect(taken).toBeLessThanOrEqual(admitted.length + unknown);
          expect(late).toBe(0);
        }
        const refusedElsewhere = others.reduce((sum, { refused }) => sum + refused, 0);
        const lost = struck.admitted.length - new Set(struck.admitted).size;
        console.info(
          `full coverage ${fullCoverage}: calls failed for ${Math.round(outageMs)} ms, ${lost} of ${struck.byTheFirst} uses answered before ` +
            `were lost, ${struck.unknown} unknown; calls that other primaries refused: ${refusedElsewhere}`,
        );
        if (fullCoverage === "no") expect(refusedElsewhere).toBe(0);
      } finally {
        isOver = true;
        await spending.catch(() => undefined);
        await store.close();
        await cluster.remove();
      }
    },
  );
});

/** How many uses both primaries admitted, since the second had not heard of them from the first. Neither primary admits a use twice. */
function lostOf({ admitted, byTheFirst }: Told): number {
  const first = new Set(admitted.slice(0, byTheFirst ?? admitted.length));
  const second = new Set(admitted.slice(byTheFirst ?? admitted.length));
  expect(first.size + second.size).toBe(admitted.length);
  return [...second].filter((remaining) => first.has(remaining)).length;
}

/** Names of workspaces, one for each primary, in their order. */
async function workspacePerPrimary({ servers }: TestCluster): Promise<readonly string[]> {
  const client = servers[0]?.connect();
  if (client === undefined) throw new Error("a cluster without servers");
  const found: string[] = [];
  for (let number = 0; found.filter(Boolean).length < servers.length; number += 1) {
    const workspaceId = `ws_${number}`;
    const slot = Number(await client.call("CLUSTER", "KEYSLOT", workspaceId));
    found[Math.floor((slot * servers.length) / 16_384)] ??= workspaceId;
  }
  client.disconnect();
  return found;
}
