import { z } from "zod";
import { emitExpired, whoseOf } from "../../audit/reservation-events.js";
import { badRequest, conflict, type LatchkeyError, unmet } from "../../errors.js";
import { encodeCursor } from "../../lib/cursor.js";
import { parseInput, unreadable } from "../../lib/parse-input.js";
import { isThenable } from "../../lib/promises.js";
import {
  type HeldLimit,
  type Hold,
  isSlotsOfAnother,
  LAST_LEASE_ID,
  slotsIdOf,
} from "../../rules/hold.js";
import { isSlotWindow, limitNameOf } from "../../rules/limit-state.js";
import type { Refill } from "../../rules/refill.js";
import { afterWriting } from "../../store/after-writing.js";
import { usageAt } from "../../store/counters.js";
import type { EndStep, HoldResult, HoldStep, UsedUnits } from "../../store/settle.js";
import type { StatisticsSubject } from "../../store/statistics.js";
import type { ReservedKey } from "../../verification/key-cache.js";
import { IDENTITY_INDEX, KEY_INDEX } from "../../verification/limit-precedence.js";
import type { LimitCost } from "../../verification/question.js";
import { afterCursor, notFound, type OperationContext } from "../context.js";
import { exactlyOneOf, id, optional, pageFields, wholeNumber } from "../input.js";
import { findApiId } from "../keys/load.js";
import { limitList } from "../limit-input.js";
import { operation, type TableOf } from "../operation.js";
import { requireId } from "../read.js";
import { limitCost, reservationTtl, reserveInput, VERIFY_BOUNDS } from "../verify-key/input.js";
import { EVERY_API, type VerifyScope } from "../verify-key/operations.js";
import {
  hasOnly,
  isText,
  isWhole,
  readCosts,
  readReservation,
} from "../verify-key/read-request.js";
import { verifySecret } from "../verify-key/verify-key.js";
import { countedBy, countUses, identityOfHold, keyOfHold } from "./count-uses.js";
import type {
  ReservationOperations,
  ReservationView,
  ReserveOutcome,
  SettledReservation,
  SettleInput,
} from "./operations.js";

const NO_LIMITS: readonly never[] = [];

/** Id of a reservation, not of its slots, which end with it. The store is asked for no other id. */
const RESERVATION_ID = /^rsv_[0-9A-Za-z]+$/;

const reference = z.strictObject({ reservationId: id });

/** Exported for tests. */
export const settleInput = reference.extend(
  optional({
    remaining: z.strictObject({ cost: wholeNumber(0) }),
    ratelimits: limitList(limitCost),
  }),
);

const renewInput = reference.extend({ ttl: reservationTtl.optional() });

const listInput = z
  .strictObject({ ...optional({ keyId: id, identityId: id }), ...pageFields })
  .refine(...exactlyOneOf("keyId", "identityId"));

export const RESERVATION_TABLE = {
  reserve: {
    input: reserveInput,
    run(context, input, scope = EVERY_API) {
      try {
        return verifySecret(context, readReservation(input), scope) as Promise<ReserveOutcome>;
      } catch (error) {
        return Promise.reject(unreadable(error, input));
      }
    },
  },

  settle: {
    input: settleInput,
    run(context, input, scope = EVERY_API) {
      try {
        const read = readSettleByHand(input) ?? parseInput(settleInput, input);
        const { reservationId, remaining, ratelimits: limits = NO_LIMITS } = read;
        const uses = remaining?.cost ?? null;
        return end(context, { kind: "end", id: reservationId, uses, limits, rest: true }, scope);
      } catch (error) {
        return Promise.reject(unreadable(error, input));
      }
    },
  },

  release: operation(reference, (context, { reservationId }, scope?: VerifyScope) =>
    end(context, { kind: "end", id: reservationId, uses: 0, limits: [], rest: false }, scope),
  ),

  renew: operation(renewInput, async (context, input, scope?: VerifyScope) => {
    const { reservationId: holdId, ttl: span = null } = input;
    await requireVisible(context, holdId, scope);
    const result = await settle(context, { kind: "renew", id: holdId, ttl: span });
    if (result.kind !== "renewed") throw refusalOf(result);
    return { expiresAt: result.hold.expiresAt };
  }),

  listReservations: operation(listInput, async (context, { keyId, identityId, limit, cursor }) => {
    const { store, workspaceId } = context;
    const ownerId = (keyId ?? identityId) as string;
    const kind = keyId === undefined ? "identity" : "key";
    const scope = { list: "reservations", ownerId } as const;
    const after = afterCursor(scope, cursor);
    // Reading it also ends expired holds.
    await requireId(context, { kind, id: ownerId });
    // A reservation may have slots in a second hold, which comes right after it.
    const behind = after === null ? LAST_LEASE_ID : slotsIdOf(after);
    const holds = await store.holds(workspaceId, { kind, id: ownerId }, behind, 2 * limit + 1);
    const open = holds.filter((hold) => !isSlotsOfAnother(hold) && hold.expiresAt > context.now());
    const shown = open.slice(0, limit);
    const last = shown.at(-1);
    const hasMore = open.length > limit || holds.length > 2 * limit;
    return {
      reservations: shown.map((hold) =>
        viewOf(
          hold,
          holds.find(({ id: other }) => other === slotsIdOf(hold.id)),
        ),
      ),
      ...(hasMore && last !== undefined && { cursor: encodeCursor(scope, last.id) }),
    };
  }),
} satisfies TableOf<ReservationOperations>;

// Without `async`, like its callers: every settle goes through here.
function settle(
  context: OperationContext,
  step: HoldStep,
  counts?: readonly StatisticsSubject[],
): Promise<HoldResult> {
  const { store, workspaceId, emit } = context;
  if ("id" in step && !RESERVATION_ID.test(step.id)) return Promise.reject(notFound("reservation"));
  const now = context.now();
  const inStep = store.countsInStep && counts;
  const settled = store.settle(workspaceId, step, { now, revision: null, counts: inStep });
  return emit === null
    ? settled
    : settled.then((result) => {
        if (result.kind === "expired" && result.hold !== null)
          emitExpired(emit, workspaceId, [result.hold], now);
        return result;
      });
}

/** No limit has a name this long. */
const NO_LIMIT = [{ name: "-".repeat(VERIFY_BOUNDS.text + 1), cost: 0 }];

/** Before a reservation is ended or renewed: its API must exist for the caller. One that is not open passes: nothing is changed. */
async function requireVisible(
  context: OperationContext,
  id: string,
  scope: VerifyScope = EVERY_API,
): Promise<void> {
  if (scope.apiIds === undefined) return;
  const known = reservedHere(context, id);
  const found = known === undefined ? await look(context, id) : null;
  const apiId = found === null ? known?.key.apiId : await findApiId(context, found.keyId);
  if (apiId !== undefined && !isOf(scope, apiId)) throw notFound("reservation");
}

/** The key of a reservation that this process made; undefined if it did not, or if the reservation is of another workspace. */
function reservedHere(
  { reserved, workspaceId }: OperationContext,
  id: string,
): ReservedKey | undefined {
  const known = reserved.get(id);
  return known?.key.workspaceId === workspaceId ? known : undefined;
}

/** Finds an open reservation by its id alone: the store has no other way than a step that it refuses, whatever the reservation holds. */
async function look(context: OperationContext, id: string): Promise<Hold | null> {
  const step = { kind: "end", id, uses: 0, limits: NO_LIMIT, rest: false } as const;
  const found = await settle(context, step);
  return found.kind === "unnamed" ? found.hold : null;
}

/** `apiId`: null if unknown, because its key is deleted. */
function isOf({ apiIds }: VerifyScope, apiId: string | null): boolean {
  return apiIds === undefined || (apiId !== null && apiIds.includes(apiId));
}

/** Ends a reservation. @returns What was charged. */
function end(
  context: OperationContext,
  step: EndStep,
  scope: VerifyScope = EVERY_API,
): Promise<SettledReservation> {
  const { recorder, reserved } = context;
  const startedAt = context.emit === null ? 0 : context.timer();
  // Read first: another call may end the reservation too.
  const known = reservedHere(context, step.id);
  const settleWith = (counts?: readonly StatisticsSubject[]) =>
    settle(context, step, counts).then((result) => {
      if (result.kind === "ended" || result.kind === "expired") reserved.delete(step.id);
      const counting = countUses(context, result, known, counts);
      const answer = () => answerOf(context, step, scope, result, known, startedAt);
      const answering = counting === null ? answer() : counting.then(answer);
      return result.kind === "ended" && isThenable(answering)
        ? afterWriting(() => answering)
        : answering;
    });
  // Another process reads the key before it charges: if that failed later, the uses would not be counted.
  const isCounted = recorder !== null && step.uses !== 0 && (recorder.isDurable || !known);
  const settleCounted = () =>
    isCounted
      ? countedBy(context, known, () => look(context, step.id)).then(settleWith)
      : settleWith();
  const ended =
    scope.apiIds === undefined
      ? settleCounted()
      : requireVisible(context, step.id, scope).then(settleCounted);
  return recorder?.track(ended) ?? ended;
}

/** The result of an end; synchronous if nothing has to be read for it. */
function answerOf(
  context: OperationContext,
  step: EndStep,
  scope: VerifyScope,
  result: HoldResult,
  known: ReservedKey | undefined,
  startedAt: number,
): SettledReservation | Promise<SettledReservation> {
  if (result.kind !== "ended") throw refusalOf(result, step);
  if (scope.apiIds === undefined) return settledAnswer(context, result, known, startedAt);
  // A repeat: the reservation was no longer open, so its API was not checked before.
  const found =
    known === undefined ? findApiId(context, result.hold.keyId) : Promise.resolve(known.key.apiId);
  return found.then((apiId) => {
    if (!isOf(scope, apiId)) throw notFound("reservation");
    return settledAnswer(context, result, known, startedAt);
  });
}

/**
 * The result with the uses left at the end, including a refill due then. A process that did not make the reservation reads the key for
 * this, and so does the one that made it if the refill may have changed since.
 */
function settledAnswer(
  context: OperationContext,
  result: Extract<HoldResult, { kind: "ended" }>,
  known: ReservedKey | undefined,
  startedAt: number,
): SettledReservation | Promise<SettledReservation> {
  const { hold, usage, endedAt } = result;
  if (usage === null && hold.usesOf === IDENTITY_INDEX)
    return identityOfHold(context, hold, null).then((identity) => ({
      ...answer(context, result, null, startedAt),
      // If the identity it took from is gone, no uses are left; otherwise the identity's uses are unlimited by now.
      remaining: identity === null ? 0 : null,
    }));
  if (usage === null || usage.remaining === null) return answer(context, result, null, startedAt);
  const left = known && usageAt(usage, known.refill, endedAt);
  const isSettled = left === usage && usage.refilledAt < hold.createdAt;
  if (isSettled || usage.refilledAt >= endedAt) return answer(context, result, null, startedAt);
  return refillOf(context, hold).then((refill) => answer(context, result, refill, startedAt));
}

/** `refill`: the refill of the uses that are left. */
function answer(
  { emit, workspaceId, timer }: OperationContext,
  { hold, used, usage, endedAt, isRepeat }: Extract<HoldResult, { kind: "ended" }>,
  refill: Refill | null,
  startedAt: number,
): SettledReservation {
  const taken = { uses: used.uses, ratelimits: costsOf(hold, used) };
  // At the time of the end, including a refill due then.
  const remaining = usage === null ? null : usageAt(usage, refill, endedAt).remaining;
  if (emit !== null && !isRepeat) {
    const about = { workspaceId, at: endedAt, durationMs: timer() - startedAt, ...whoseOf(hold) };
    emit({ type: "reservation.settled", ...about, ...taken });
  }
  return { remaining, taken };
}

/** Units of limits, without slots. `used`: how many of them were used. Default: all. */
function costsOf({ limits }: Hold, used?: UsedUnits): readonly LimitCost[] {
  const costs: LimitCost[] = [];
  for (let index = 0; index < limits.length; index += 1) {
    const { window, units } = limits[index] as HeldLimit;
    if (!isSlotWindow(window))
      costs.push({ name: limitNameOf(window), cost: used?.limits[index] ?? units });
  }
  return costs;
}

function viewOf(hold: Hold, slots: Hold | undefined): ReservationView {
  const { id: reservationId, keyId, createdAt, expiresAt, uses } = hold;
  const ratelimits = [...hold.limits, ...(slots?.limits ?? [])].map(({ window, units }) => ({
    name: limitNameOf(window),
    cost: units,
  }));
  return { reservationId, keyId, createdAt, expiresAt, uses, ratelimits };
}

/** The refill of the uses that a hold took from; also null if it is unknown because its key was deleted. */
async function refillOf(context: OperationContext, hold: Hold): Promise<Refill | null> {
  const loaded = await keyOfHold(context, hold);
  const whose =
    hold.usesOf === KEY_INDEX ? loaded?.key : await identityOfHold(context, hold, loaded);
  return whose?.refill ?? null;
}

function refusalOf(result: HoldResult, step?: EndStep): LatchkeyError {
  switch (result.kind) {
    case "conflict":
      return conflict(
        "reservation-ended",
        `this reservation has ended${step === undefined ? "" : ", with other figures"}`,
      );
    case "expired":
      return unmet(
        "reservation-expired",
        "this reservation has expired: what it held was returned",
      );
    case "over": {
      const { hold } = result;
      const reserved = { uses: hold.uses, ratelimits: costsOf(hold) };
      return unmet("over-reservation", "more was used than was reserved; nothing was changed", {
        reserved,
      });
    }
    case "unnamed": {
      const names = costsOf(result.hold).map(({ name }) => name);
      const message =
        "must name a limit that the reservation holds units of, other than a concurrent one";
      const issues = (step?.limits ?? []).flatMap(({ name }, index) =>
        names.includes(name) ? [] : [{ path: `ratelimits.${index}.name`, message }],
      );
      return badRequest(issues);
    }
    default:
      return notFound("reservation");
  }
}

const FIELDS = new Set(["reservationId", "remaining", "ratelimits"]);
const USES_FIELDS = new Set(["cost"]);

/** Reads the input of settle by hand, each field once; null if the schema must check it. Both return the same. */
export function readSettleByHand(input: unknown): SettleInput | null {
  if (!hasOnly(input, FIELDS)) return null;
  const { reservationId, remaining, ratelimits } = input;
  if (!isText(reservationId)) return null;
  const uses = remaining === undefined ? undefined : readUses(remaining);
  const limits = ratelimits === undefined ? undefined : readCosts(ratelimits);
  return uses === null || limits === null
    ? null
    : { reservationId, remaining: uses, ratelimits: limits };
}

function readUses(value: unknown): SettleInput["remaining"] | null {
  if (!hasOnly(value, USES_FIELDS)) return null;
  const { cost } = value;
  return isWhole(cost, 0) ? { cost } : null;
}
