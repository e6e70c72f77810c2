import {
  allChecks,
  type DryRunOutcome,
  NO_SUCH_KEY,
  type Peek,
  usesBefore,
} from "../../verification/dry-run.js";
import { judgeRecords, verdictOnCharge, verdictOnRefusal } from "../../verification/judge.js";
import { decideLimits } from "../../verification/limit-precedence.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { dueRefillOf, planPeek } from "../../verification/plan.js";
import type { VerifyQuestion } from "../../verification/question.js";
import { lacksSlotEnds, withSlotEnds } from "../../verification/slot-ends.js";
import { NO_KEY, type NoKey } from "../../verification/verdict.js";
import type { OperationContext } from "../context.js";
import { getKeyById, noKeyVerdict } from "../keys/load.js";
import { operation } from "../operation.js";
import { untilSteady } from "../read.js";
import { explainKeyInput, questionOf } from "./input.js";
import { EVERY_API, isVisible, type VerifyScope } from "./operations.js";

/**
 * Finds the verdict that a verification would give, and why. It reads records and counters again, and one `peek` confirms them.
 *
 * @see packages/core/decisions/0016-a-dry-run-leaves-no-trace.md
 */
export async function dryRun(
  context: OperationContext,
  find: () => Promise<LoadedKey | NoKey>,
  question: VerifyQuestion,
  scope: VerifyScope,
): Promise<DryRunOutcome> {
  return untilSteady("the key kept changing while it was checked", async () => {
    const loaded = await find();
    if (typeof loaded === "string") return { ...NO_KEY[loaded], checks: NO_SUCH_KEY };
    if (!isVisible(context, scope, loaded))
      return { ...NO_KEY[await noKeyVerdict(context)], checks: NO_SUCH_KEY };
    const now = context.now();
    const refusal = judgeRecords(loaded, question, now);
    const { limits, unknown } = decideLimits(loaded, question.limits);
    // With the whole cost even if the records refuse, so that the later checks are shown too.
    const plan = planPeek(loaded, question.cost, limits);
    const charge = await context.store.charge(plan, { now, refill: dueRefillOf(loaded, now) });
    if (!("limits" in charge)) return undefined;
    const known = lacksSlotEnds(plan, charge)
      ? await withSlotEnds(context.store, plan, charge, now)
      : charge;
    const peek: Peek = { limits, cost: question.cost, charge: known };
    // The counters as seen by a verification that the records refuse: it takes nothing, and names no limit.
    const unmoved = { kind: "charged", remaining: usesBefore(peek), limits: [] } as const;
    const verdict =
      refusal === null && unknown.length === 0
        ? verdictOnCharge(loaded, peek, known, now)
        : verdictOnRefusal(loaded, question, refusal, unmoved, now);
    return { ...verdict, checks: allChecks(loaded, question, peek, now) };
  });
}

export const explainKey = operation(explainKeyInput, async (context, { keyId, ...question }) =>
  dryRun(context, () => getKeyById(context, keyId), questionOf(question), EVERY_API),
);
