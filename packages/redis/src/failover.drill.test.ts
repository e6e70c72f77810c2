import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { redisStore } from "./index.js";
import { isSettledWithin, until } from "./testing/errors.js";
import { startProxy } from "./testing/proxy.js";
import { startServer } from "./testing/redis-server.js";
import { demote, promote, untilFollowed } from "./testing/replication.js";
import { describeWithServers } from "./testing/where.js";

// FAILOVERS=20 npx vitest run --config vitest.workspace.ts --project drills /failover.drill --reporter=verbose
const FAILOVERS = Number(process.env.FAILOVERS ?? 1);

/** More than is spent before a failover, and little enough to be spent soon after it. */
const GRANTED = 1_500;
const SPENDERS = 8;
const TIMEOUTS = { commandTimeoutMs: 400, configTimeoutMs: 2_000 };
const WAIT = { count: 1, timeoutMs: 100 };
/** A call expires up to an eighth late, and a busy machine is slower than that. */
const LATEST_MS = (TIMEOUTS.commandTimeoutMs + WAIT.timeoutMs) * 1.125 + 2_000;

interface Conditions {
  readonly waits: boolean;
  /** Whether the replica has fallen behind when its primary fails. */
  readonly lags: boolean;
  /** What becomes of the old primary. */
  readonly fate: "killed" | "demoted";
}

/** What callers were told while one server was the primary. */
interface Epoch {
  readonly admitted: number[];
  unknown: number;
}

const CONDITIONS: readonly Conditions[] = [
  { waits: false, lags: false, fate: "killed" },
  { waits: false, lags: true, fate: "killed" },
  { waits: false, lags: true, fate: "demoted" },
  { waits: true, lags: false, fate: "killed" },
  { waits: true, lags: true, fate: "killed" },
  { waits: true, lags: true, fate: "demoted" },
];

describeWithServers("a failover while keys are verified", () => {
  test.each(CONDITIONS)(
    "%o: no call hangs, each server admits what it holds, and only asynchronous replication loses uses",
    async (conditions) => {
      for (let failover = 0; failover < FAILOVERS; failover += 1) {
        const { before, after, left, leftAfter, late } = await failOver(conditions);
        const takenBefore = GRANTED - left;
        const takenAfter = left - leftAfter;
        const lost = Math.max(0, before.admitted.length - takenBefore);
        console.info(
          `${JSON.stringify(conditions)}: of ${before.admitted.length} uses answered before, ${lost} were lost; ` +
            `unknown ${before.unknown}, after it ${after.admitted.length} admitted`,
        );
        for (const { admitted } of [before, after]) {
          expect(new Set(admitted).size).toBe(admitted.length);
        }
        expect(before.admitted.length).toBeLessThanOrEqual(GRANTED);
        expect(takenBefore).toBeLessThanOrEqual(before.admitted.length + before.unknown);
        expect(after.admitted.length).toBeLessThanOrEqual(takenAfter);
        expect(takenAfter).toBeLessThanOrEqual(after.admitted.length + after.unknown);
        expect(before.admitted.length + after.admitted.length).toBeLessThanOrEqual(GRANTED + lost);
        expect(late).toBe(0);
        if (conditions.waits) expect(lost).toBe(0);
      }
    },
  );
});

/** Verifies one key in parallel while its primary fails and its replica takes over at the same address. */
async function failOver({ waits, lags, fate }: Conditions) {
  const primary = await startServer();
  const feed = await startProxy(primary.port);
  const replica = await startServer({ replicaof: `127.0.0.1 ${feed.port}` });
  const front = await startProxy(primary.port);
  const store = redisStore(front.url, waits ? { ...TIMEOUTS, waitReplicas: WAIT } : TIMEOUTS);
  const latchkey = createLatchkey({ store });
  let spending: Promise<unknown> = Promise.resolve();
  let isOver = false;
  try {
    await untilFollowed(primary);
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: GRANTED });
    const before: Epoch = { admitted: [], unknown: 0 };
    const after: Epoch = { admitted: [], unknown: 0 };
    let epoch = before;
    let failed = 0;
    let late = 0;

    const spend = async () => {
      while (!isOver) {
        const startedIn = epoch;
        const call = latchkey.verifyKey({ key });
        if (!(await isSettledWithin(LATEST_MS, call))) late += 1;
        try {
          const verdict = await call;
          if (verdict.valid) epoch.admitted.push(Number(verdict.remaining));
          else expect(verdict.code).toBe("USAGE_EXCEEDED");
          if (!verdict.valid) return;
        } catch (error) {
          expect(error).toBeInstanceOf(LatchkeyError);
          const { code, outcome } = error as LatchkeyError;
          expect(code).toBe("STORE_UNAVAILABLE");
          failed += 1;
          if (outcome === "unknown") startedIn.unknown += 1;
          else await new Promise((resolve) => setTimeout(resolve, 2));
        }
      }
    };
    spending = Promise.all(Array.from({ length: SPENDERS }, spend));
    spending.catch(() => undefined);
    // A spender that fails ends the wait, since it will do nothing more.
    const untilSpent = (isSo: () => boolean) =>
      Promise.race([until(async () => isSo(), 60_000), spending]);

    await untilSpent(() => before.admitted.length >= 300);
    if (lags) {
      feed.stall();
      const reached = before.admitted.length + before.unknown;
      const more = waits ? SPENDERS : 300;
      await untilSpent(() => before.admitted.length + before.unknown >= reached + more);
    }
    if (fate === "killed") await primary.stop("SIGKILL");
    else await demote(primary, replica.port);
    feed.cut();
    const failedBefore = failed;
    await untilSpent(() => failed >= failedBefore + SPENDERS);

    await promote(replica);
    const control = redisStore(replica.url);
    const leftAt = async () =>
      Number((await createLatchkey({ store: control }).getKey({ keyId })).remaining);
    const left = await leftAt();
    epoch = after;
    front.leadTo(replica.port);
    // Without a replica of its own, the new primary could promise nothing to writes that wait for one.
    if (waits && fate === "killed") {
      await primary.start({ replicaof: `127.0.0.1 ${replica.port}` });
    }
    const more = waits ? 100 : 300;
    await untilSpent(() => after.admitted.length >= Math.min(more, left));
    if (!waits) await spending;
    isOver = true;
    await spending;
    const leftAfter = await leftAt();
    await control.close();
    return { before, after, left, leftAfter, late };
  } finally {
    isOver = true;
    await spending.catch(() => undefined);
    await store.close();
    await Promise.all([front.close(), feed.close(), replica.remove(), primary.remove()]);
  }
}
