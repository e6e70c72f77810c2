import {
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type EndStep,
  readChargeText,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { refusedPlan } from "./engine/errors.js";
import type { Rows } from "./engine/rows.js";
import { SCRIPTS, type Script } from "./engine/scripts.js";
import type { Workspace } from "./engine/workspace.js";
import { ask } from "./holds.js";
import { PreparedCharge } from "./prepared-charge.js";

/** Most charges of one script run, so that it takes no longer than a millisecond. */
const MOST_AT_ONCE = 16;

/** A charge that waits for the end of its turn of the event loop. */
interface Waiting {
  readonly plan: ChargePlan;
  readonly rows: Pick<Rows, "keys" | "args">;
  readonly resolve: (result: ChargeResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The atomic steps of verifications, one round trip each. Charges of one workspace that begin in the same turn of the event loop share a
 * round trip; each is decided on its own, in order.
 */
export function createCharges(connection: Connection, at: (workspaceId: string) => Workspace) {
  /** By workspace. Counted charges have their own script, so that others do not pay for it. */
  const queues = [
    { script: SCRIPTS.charge, waiting: new Map<string, Waiting[]>() },
    { script: SCRIPTS.chargeCounted, waiting: new Map<string, Waiting[]>() },
  ] as const;
  let isSending = false;

  /** Sends all waiting charges now, without waiting for the end of the turn. */
  function send(): void {
    isSending = false;
    for (const { script, waiting } of queues) {
      for (const [shared, charges] of waiting)
        while (charges.length > 0) run(connection, script, shared, charges.splice(0, MOST_AT_ONCE));
      waiting.clear();
    }
  }

  function charge(plan: ChargePlan, moment: ChargeMoment): Promise<ChargeResult> {
    const { memo, workspaceId } = plan;
    // A copy of a plan carries the memo of the original, and a plan may be used on another store.
    const isOwn =
      memo instanceof PreparedCharge && memo.plan === plan && memo.at.connection === connection;
    const prepared = isOwn ? memo : new PreparedCharge(at(workspaceId), plan);
    plan.memo = prepared;
    const { ends } = moment;
    if (ends !== undefined) return chargeEnding(prepared, moment, ends);
    return new Promise((resolve, reject) => {
      const own: Waiting = { plan, rows: prepared.rowsAt(moment), resolve, reject };
      if (!isSending) process.nextTick(send);
      isSending = true;
      const { shared } = prepared.at;
      const { waiting } = queues[plan.counts === undefined ? 0 : 1];
      const others = waiting.get(shared);
      if (others === undefined) waiting.set(shared, [own]);
      else others.push(own);
    });
  }

  return { charge, send };
}

/** Plain loops: this is most of the work that latchkey itself does for a verification. */
async function run(
  connection: Connection,
  script: Script,
  shared: string,
  charges: readonly Waiting[],
) {
  const keys = [shared];
  const args: string[] = [];
  for (const { rows } of charges) {
    keys.push(...rows.keys);
    args.push(...rows.args);
  }
  try {
    const answers = String(await connection.run(script, keys, args)).split("\0");
    for (let index = 0; index < charges.length; index += 1) {
      const { plan, resolve, reject } = charges[index] as Waiting;
      try {
        const result = readAnswer(answers[index], plan);
        if (plan.hold !== undefined) connection.held.remember(shared, plan.limits, result);
        resolve(result);
      } catch (error) {
        reject(error);
      }
    }
  } catch (error) {
    for (const { reject } of charges) reject(error);
  }
}

/** A charge that also ends a hold, in the same step. It has its own script, so that others do not pay for it. */
async function chargeEnding(
  prepared: PreparedCharge,
  moment: ChargeMoment,
  ends: EndStep,
): Promise<ChargeResult> {
  const { at, plan } = prepared;
  const { keys, args } = prepared.rowsAt(moment);
  const { now } = moment;
  const when = { now, revision: plan.revision };
  const answer = await ask(at, ends, when, (own) => {
    const all = [...own.args, ...args, String(own.args.length)];
    return at.connection.run(SCRIPTS.chargeEnding, [...own.keys, ...keys], all);
  });
  if (Array.isArray(answer)) return { kind: "stale", moved: "revision" };
  const result = readAnswer(String(answer), plan);
  at.connection.held.remember(at.shared, plan.limits, result);
  return result;
}

function readAnswer(text = "", plan: ChargePlan): ChargeResult {
  if (text.startsWith("ERROR "))
    throw refusedPlan(text.slice("ERROR ".length), plan.mode === "commit");
  return readChargeText(text, plan);
}
