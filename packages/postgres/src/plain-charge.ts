import { type ChargeMoment, type ChargePlan, KIND_CODE } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import type { Statement } from "./engine/database.js";
import type { PlainHold } from "./engine/plain-hold-sql.js";
import { amountOf } from "./row-text.js";

/** Most records and limits: each further number is one more statement to prepare. */
const MOST_RECORDS = 2;
const MOST_LIMITS = 2;

/** How many charges skip the plain statement after it returned nothing: others are using these counters, and probably continue. */
const LEFT_OUT = 16;

/**
 * A charge as a plain statement, which costs the server less than the function. Null if the function is needed, also if statements are
 * not prepared: planning it each time would take longer.
 *
 * @see engine/plain-charge-sql.ts
 */
export function plainChargeOf(connection: Connection, plan: ChargePlan) {
  if (!connection.isPreparing || !isPlain(plan)) return null;
  const { confirms, limits, hold, uses } = plan;
  const most = uses === 0 ? hold?.most : hold?.most.toReversed();
  const span = Math.min(hold?.ttl ?? 0, hold?.slotTtl ?? Number.POSITIVE_INFINITY);
  const spanAndMost = written([span, ...(most ?? [])]);
  const fixed = valuesOf(plan);
  const algorithms = limits.map(({ algorithm, held }) => {
    if (algorithm !== "token-bucket") return algorithm;
    if (held !== undefined) return "leased-bucket";
    return hold?.keeps === "all" ? "reserved-bucket" : algorithm;
  });
  let left = 0;
  return {
    /** Null if the function is needed this time. */
    at({ now, refill, request, ends, holdId = "" }: ChargeMoment): Statement | null {
      if (request !== undefined || ends !== undefined) return null;
      left -= 1;
      if (left >= 0) return null;
      const hasRefill = refill !== null;
      const shape = {
        records: confirms.length,
        limits: algorithms,
        hasRefill,
        hold: shapeOf(plan),
      };
      const due = refill === null ? [] : written([amountOf(refill), refill.dueAt]);
      const held = hold === undefined ? [] : [holdId, ...spanAndMost];
      const values = [String(now), ...fixed, ...due, ...held];
      return { sql: connection.sql.plainCharge(shape), values };
    },
    /** To be called when the statement returned nothing. */
    leaveOut: () => {
      left = LEFT_OUT;
    },
  };
}

/** Whether it takes from one record only, and the version of every record is known. */
function isPlain(plan: ChargePlan): boolean {
  const { confirms, mode, uses, limits } = plan;
  return (
    uses !== null &&
    isPlainHold(plan) &&
    confirms.length <= MOST_RECORDS &&
    limits.length <= MOST_LIMITS &&
    confirms.every(({ version }) => typeof version === "number") &&
    limits.every(({ shadow, held, cost: units }) => !shadow && (held ?? units) === units) &&
    limits.every(({ owner, cost }) => owner === uses && (cost > 0 || mode === "peek"))
  );
}

/** Whether it holds nothing, or one hold beside all records: either of slots, or of everything else. */
function isPlainHold({ confirms, limits, hold }: ChargePlan): boolean {
  if (hold === undefined) return true;
  if (hold.most.length !== confirms.length) return false;
  if (hold.keeps === "slots") return true;
  return hold.slotTtl === null && limits.every(({ algorithm }) => algorithm !== "concurrent");
}

function shapeOf({ uses, hold }: ChargePlan): PlainHold | null {
  return hold === undefined || uses === null ? null : { keeps: hold.keeps, uses };
}

function valuesOf(plan: ChargePlan): readonly (string | null)[] {
  const { workspaceId, revision, confirms, mode, cost, uses, limits } = plan;
  const owner = confirms.filter((_, index) => index === uses);
  const others = confirms.filter((_, index) => index !== uses);
  const records = [...owner, ...others].map(({ kind, id, version }) => [
    KIND_CODE[kind],
    id,
    version,
  ]);
  const windows = limits.map(({ algorithm, window, limit, duration, cost: units, burst }) => {
    if (algorithm === "concurrent") return [window, limit, units];
    const figures = [window, limit, duration, units];
    return algorithm === "token-bucket" ? [...figures, burst] : figures;
  });
  return written([workspaceId, revision, mode, cost, ...records.flat(), ...windows.flat()]);
}

function written(values: readonly (string | number | null)[]): readonly (string | null)[] {
  return values.map((value) => (value === null ? null : String(value)));
}
