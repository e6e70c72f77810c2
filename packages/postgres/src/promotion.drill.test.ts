import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { PATIENT, startServer, type TestServer } from "./testing/postgres-server.js";
import { ask, startStandby, until } from "./testing/standby.js";
import { describeWithServers } from "./testing/where.js";

// PROMOTIONS=7 npx vitest run --config vitest.workspace.ts --project drills postgres/src/promotion --reporter=verbose
const PROMOTIONS = Number(process.env.PROMOTIONS ?? 1);
const USES = 1_000;
/** Verifications before the standby falls behind, and the same number after it. */
const CALLS = 25;

interface Conditions {
  readonly synchronousCommit: "on" | "remote_write" | "remote_apply" | "local" | "off";
  /** Whether the standby is in `synchronous_standby_names`. */
  readonly isSynchronous: boolean;
}

/** The answered calls, and those of them that the new primary does not know. */
interface Outcome {
  readonly answered: number;
  readonly unknown: number;
  /** Answered uses that came back. */
  readonly lost: number;
  readonly revoked: number;
  /** Keys that work again although their revocation was answered. */
  readonly revived: number;
}

/** Which of the calls answered while the standby received nothing are lost. */
type Loses = "nothing" | "charges" | "all";

const CONDITIONS: readonly (Conditions & { readonly loses: Loses })[] = [
  { synchronousCommit: "on", isSynchronous: false, loses: "all" },
  { synchronousCommit: "on", isSynchronous: true, loses: "nothing" },
  { synchronousCommit: "remote_write", isSynchronous: true, loses: "nothing" },
  { synchronousCommit: "remote_apply", isSynchronous: true, loses: "nothing" },
  { synchronousCommit: "local", isSynchronous: true, loses: "all" },
  { synchronousCommit: "off", isSynchronous: false, loses: "all" },
  { synchronousCommit: "off", isSynchronous: true, loses: "charges" },
];

describeWithServers("a standby that had fallen behind is promoted", () => {
  test.each(CONDITIONS.slice(0, PROMOTIONS))(
    "$synchronousCommit, synchronous standby $isSynchronous: loses $loses",
    async ({ loses, ...conditions }) => {
      const outcome = await promote(conditions, loses);
      console.info({ ...conditions, ...outcome });
      // Every call answered before the standby fell behind is there.
      expect(outcome.answered - outcome.lost).toBeGreaterThanOrEqual(CALLS);
      expect(outcome.lost).toBe(loses === "nothing" ? 0 : CALLS);
      expect(outcome.revived).toBe(loses === "all" ? 1 : 0);
    },
  );
});

async function promote(
  { synchronousCommit, isSynchronous }: Conditions,
  loses: Loses,
): Promise<Outcome> {
  const primary = await startServer({ synchronous_commit: synchronousCommit });
  let standby: TestServer | undefined;
  try {
    standby = await startStandby(primary, isSynchronous);

    const latchkey = createLatchkey({ store: postgresStore(primary.url, PATIENT), usage: false });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: USES });
    const [first, second] = [
      await latchkey.createKey({ apiId }),
      await latchkey.createKey({ apiId }),
    ];
    const revoked = [first.key];
    await latchkey.deleteKey({ keyId: first.keyId });
    for (let count = 0; count < CALLS; count += 1) await latchkey.verifyKey({ key });
    await until(
      primary,
      "SELECT FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_insert_lsn()",
    );

    // From now on the standby gets nothing: the process that feeds it is stopped.
    const [[sender] = []] = await ask(primary, "SELECT pid FROM pg_stat_replication");
    process.kill(Number(sender), "SIGSTOP");
    // Calls that wait for the standby get no answer: only those are given up soon.
    const timeouts = {
      chargeTimeoutMs: loses === "nothing" ? 2_000 : 60_000,
      timeoutMs: loses === "all" ? 60_000 : 2_000,
    };
    const hasty = createLatchkey({ store: postgresStore(primary.url, timeouts), usage: false });
    const [charges, revocations] = await Promise.all([
      answersOf(CALLS, () => hasty.verifyKey({ key })),
      answersOf(1, () => hasty.deleteKey({ keyId: second.keyId })),
    ]);
    if (revocations === 1) revoked.push(second.key);
    await Promise.all([latchkey.close(), hasty.close()]);
    const crashed = primary.crash();
    process.kill(Number(sender), "SIGKILL");
    await crashed;
    await ask(standby, "SELECT pg_promote()");

    const next = createLatchkey({ store: postgresStore(standby.url, PATIENT), usage: false });
    const { remaining } = await next.getKey({ keyId });
    const verdicts = await Promise.all(revoked.map((other) => next.verifyKey({ key: other })));
    await next.close();
    const told = CALLS + charges;
    return {
      answered: told,
      unknown: 2 * CALLS - told,
      lost: Math.max(0, told - (USES - Number(remaining))),
      revoked: revoked.length,
      revived: verdicts.filter(({ valid }) => valid).length,
    };
  } finally {
    await standby?.remove();
    await primary.remove();
  }
}

/** How many of `count` simultaneous calls were answered. The others may have happened. */
async function answersOf(count: number, call: () => Promise<unknown>): Promise<number> {
  const calls = await Promise.allSettled(Array.from({ length: count }, call));
  for (const result of calls)
    if (result.status === "rejected") {
      expect(result.reason).toBeInstanceOf(LatchkeyError);
      expect(result.reason).toMatchObject({ code: "STORE_UNAVAILABLE" });
    }
  return calls.filter(({ status }) => status === "fulfilled").length;
}
