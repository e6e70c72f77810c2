import {
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  corruptRecord,
  readChargeText,
} from "@latchkey/core";
import type { ChargeQueue } from "./charge-queue.js";
import type { Connection } from "./engine/connection.js";
import { PreparedCharge } from "./prepared-charge.js";

/** How often a record may get other counters between two attempts to charge it. */
const MAX_MOVES = 10;

/** The atomic step of a verification: one round trip, and one more if a record has other counters than the plan knows. */
export async function charge(
  connection: Connection,
  queue: ChargeQueue,
  plan: ChargePlan,
  moment: ChargeMoment,
): Promise<ChargeResult> {
  const prepared = preparedFor(connection, plan);
  const deadline = connection.deadline("charge");
  let sent = moment;
  for (let moves = 0; ; moves += 1) {
    const answer = await queue.add(prepared, sent, deadline);
    if (!answer.startsWith("moved ")) return readChargeText(answer, plan);
    if (moves === MAX_MOVES) throw corruptRecord("counters");
    // Nothing was charged, but the step of the hold to be ended was taken.
    if (moment.ends !== undefined) sent = { ...moment, ends: undefined };
    prepared.handles = answer.slice("moved ".length);
  }
}

/** A copy of a plan carries the memo of the original, and a plan may be used on another store. */
function preparedFor(connection: Connection, plan: ChargePlan): PreparedCharge {
  const { memo } = plan;
  if (memo instanceof PreparedCharge && memo.plan === plan && memo.connection === connection)
    return memo;
  const prepared = new PreparedCharge(connection, plan);
  plan.memo = prepared;
  return prepared;
}
