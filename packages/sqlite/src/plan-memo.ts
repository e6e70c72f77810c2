import type { ChargePlan, ChargeResult } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import type { KeptRecord } from "./engine/memo.js";

/** The place of counters that do not exist, and of those that no record owns. */
export const NOWHERE = -1;
export const PASSING = -2;

/** What is kept with a plan: where everything is that it takes from. */
export interface PlanMemo {
  /** Whose numbers these are. */
  readonly connection: Connection;
  /** A copy of a plan may bring the memo of the plan that it was copied from. */
  readonly plan: ChargePlan;
  readonly workspace: number;
  /** In which all that the plan confirms was found to hold; NaN where they were not read in one. */
  readonly generation: number;
  /** Numbers of the counters that the plan takes from, each once. */
  readonly counters: readonly number[];
  /** Which of `counters` has the uses. */
  readonly uses: number;
  /** Which of `counters` has the window of each limit. */
  readonly owners: readonly number[];
}

/** What of a plan moved: the revision is compared first, then each record. */
export type Stale = Extract<ChargeResult, { kind: "stale" }>;

/**
 * Finds out where a plan takes from, if all that it confirms holds.
 *
 * @param revision - Of the workspace, as the records: read in the generation given.
 */
export function bindPlan(
  connection: Connection,
  plan: ChargePlan,
  workspace: number,
  records: readonly (KeptRecord | null)[],
  revision: number,
  generation: number,
): PlanMemo | Stale {
  if (plan.revision !== null && plan.revision !== revision)
    return { kind: "stale", moved: "revision" };
  const moved = plan.confirms.findIndex(({ version }, place) => {
    const record = records[place] ?? null;
    if (version === null || record === null) return version !== null || record !== null;
    return version !== "exists" && version !== record.version;
  });
  if (moved !== -1) return { kind: "stale", moved };
  const counters: number[] = [];
  const placeOf = (owner: number | null) => {
    const seq = owner === null ? null : (records[owner]?.counters ?? null);
    if (seq === null) return NOWHERE;
    return counters.includes(seq) ? counters.indexOf(seq) : counters.push(seq) - 1;
  };
  const uses = placeOf(plan.uses);
  const owners = plan.limits.map(({ owner }) => (owner === null ? PASSING : placeOf(owner)));
  const memo = { connection, plan, workspace, generation, counters, uses, owners };
  plan.memo = memo;
  return memo;
}
