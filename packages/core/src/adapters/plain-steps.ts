import { endsAt } from "../rules/limit-algorithm.js";
import type { RecordAddress } from "../store/change.js";
import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type LimitCharge,
  type RememberedCharge,
} from "../store/charge.js";
import { NO_USES, UNLIMITED_USES } from "../store/counters.js";
import {
  applyHoldStep,
  type HoldBook,
  type HoldMoment,
  type HoldResult,
  type HoldStep,
} from "../store/settle.js";
import type { StatisticsBatch } from "../store/statistics.js";
import { countedByCharge, countedBySettle } from "../store/step-counts.js";
import { isVersion } from "./judge-change.js";

/** A workspace as a JavaScript store keeps it. No method may fail half way. */
export interface WorkspaceBook<Counters> extends HoldBook<Counters> {
  /** Revision of the workspace; 0 before the first. */
  revision(): number;
  /** Null if there is no such record. */
  version(of: RecordAddress): number | null;
  /** `of`: the record that the request is remembered with; undefined for none. Null if it is not remembered. */
  request(of: RecordAddress | undefined, id: string): RememberedCharge | null;
  /** Remembers a request until its `until`. */
  setRequest(of: RecordAddress | undefined, id: string, charge: RememberedCharge): void;
  /** Does what `KeyStore.addStatistics` does. */
  addStatistics(batch: StatisticsBatch): void;
}

/** Does what `KeyStore.charge` does. The store makes it one atomic step, even for a refusal: the plan may have ended a hold. */
export function plainCharge<Counters>(
  book: WorkspaceBook<Counters>,
  plan: ChargePlan,
  moment: ChargeMoment,
): ChargeResult {
  const { revision, confirms } = plan;
  if (revision !== null && revision !== book.revision())
    return { kind: "stale", moved: "revision" };
  if (moment.ends !== undefined) applyHoldStep(book, moment.ends, moment.now);
  const moved = confirms.findIndex((one) => !isVersion(book.version(one), one.version));
  if (moved !== -1) return { kind: "stale", moved };
  const result = move(book, plan, moment);
  const counted = countedByCharge(plan, moment, result);
  if (counted !== null) book.addStatistics(counted);
  return result;
}

/** Takes the units and uses of a confirmed plan. */
function move<Counters>(
  book: WorkspaceBook<Counters>,
  { confirms, limits, uses, ...plan }: ChargePlan,
  moment: ChargeMoment,
): ChargeResult {
  const owners = confirms.map((address) => book.counters(address));
  const ownerOf = (place: number | null) => (place === null ? null : (owners[place] ?? null));
  /** A limit of a record without counters is not counted. */
  const isCounted = ({ owner }: LimitCharge) => owner === null || ownerOf(owner) !== null;
  const drawn = ownerOf(uses);
  const uncounted = uses === null ? UNLIMITED_USES : NO_USES;
  const [first] = confirms;
  const { request } = moment;
  const { result, next } = applyCharge(
    {
      usage: drawn === null ? uncounted : book.usage(drawn),
      windows: limits.map((limit) =>
        isCounted(limit) ? book.window(ownerOf(limit.owner), limit.window) : null,
      ),
      remembered: request === undefined ? null : book.request(first, request.id),
      holds: owners.map((owner) => (owner === null ? undefined : book.usage(owner).holds)),
    },
    { confirms, limits, uses, ...plan },
    moment,
  );
  if (next === null) return result;
  if (drawn !== null) book.setUsage(drawn, next.usage);
  for (const [index, limit] of limits.entries()) {
    const window = next.windows[index] ?? null;
    if (window !== null && isCounted(limit))
      book.setWindow(ownerOf(limit.owner), limit.window, window, endsAt(window, limit));
  }
  const { holds = [], sums = [] } = next.held ?? {};
  for (const [place, owner] of owners.slice(0, sums.length).entries()) {
    if (owner === null) continue;
    for (const hold of holds) book.attach(hold, place, owner);
    book.setUsage(owner, { ...book.usage(owner), holds: sums[place] });
  }
  if (request !== undefined && next.remember !== null)
    book.setRequest(first, request.id, next.remember);
  return result;
}

/** Does what `KeyStore.settle` does. The store makes it one atomic step. */
export function plainSettle<Counters>(
  book: WorkspaceBook<Counters>,
  step: HoldStep,
  moment: HoldMoment,
): HoldResult {
  const { now, revision } = moment;
  if (revision !== null && revision !== book.revision()) return { kind: "stale" };
  const result = applyHoldStep(book, step, now);
  const counted = countedBySettle(moment, result);
  if (counted !== null) book.addStatistics(counted);
  return result;
}
