import {
  type AppliedCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  corruptRecord,
  LatchkeyError,
} from "@latchkey/core";
import type { ChargeQueue } from "./charge-queue.js";
import type { Connection } from "./engine/connection.js";
import { type KnownLimit, PreparedCharge } from "./prepared-charge.js";
import { whole } from "./stored-record.js";

/** How often a record may get other counters between two attempts to charge it. */
const MAX_MOVES = 10;

const KINDS: ReadonlySet<unknown> = new Set(["charged", "rate-limited", "usage-exceeded"]);

/** The atomic step of a verification: one round trip, and one more where a record has other counters than the plan knows. */
export async function charge(
  connection: Connection,
  queue: ChargeQueue,
  plan: ChargePlan,
  moment: ChargeMoment,
): Promise<ChargeResult> {
  const prepared = preparedFor(connection, plan);
  const deadline = connection.deadline("charge");
  for (let moves = 0; ; moves += 1) {
    const answer = await queue.add(prepared, moment, deadline);
    const words = answer.split(" ");
    if (words[0] !== "moved" || moves === MAX_MOVES) return readAnswer(answer, words, plan);
    // Nothing was done.
    prepared.handles = words[1] ?? "";
  }
}

/** A copy of a plan brings the memo of the plan that it was copied from, and a plan may meet another store. */
function preparedFor(connection: Connection, plan: ChargePlan): PreparedCharge {
  const { memo } = plan;
  if (memo instanceof PreparedCharge && memo.plan === plan && memo.connection === connection)
    return memo;
  const prepared = new PreparedCharge(connection, plan);
  plan.memo = prepared;
  return prepared;
}

function readAnswer(answer: string, words: readonly string[], plan: ChargePlan): ChargeResult {
  switch (words[0]) {
    case "stale":
      return { kind: "stale", moved: words[1] === "0" ? "revision" : Number(words[1]) - 1 };
    case "conflict":
      return { kind: "conflict" };
    case "corrupt":
    case "moved":
      throw corruptRecord("counters");
    case "repeat":
      return readRemembered(answer.slice("repeat ".length));
    default:
      return readApplied(words, plan.limits);
  }
}

function readApplied(words: readonly string[], limits: readonly KnownLimit[]): AppliedCharge {
  const [kind, left] = words;
  if (!KINDS.has(kind))
    throw new LatchkeyError(
      "INTERNAL_SERVER_ERROR",
      "the function charge answered something unknown",
    );
  const readings = limits.map(({ name, limit, duration, cost }, index) => {
    const [startedAt, units] = (words[index + 2] ?? "").split(":");
    const used = wholeOf(units);
    return {
      name,
      limit,
      remaining: Math.max(0, limit - used),
      resetAt: wholeOf(startedAt) + duration,
      exceeded: kind === "rate-limited" && used + cost > limit,
    };
  });
  const remaining = left === "-" ? null : wholeOf(left);
  return { kind: kind as AppliedCharge["kind"], remaining, limits: readings };
}

/** A result as it was remembered: the answer of the function, and below it what the limits were. */
function readRemembered(text: string): AppliedCharge {
  const [answer = "", about = ""] = text.split("\n");
  let limits: readonly (readonly [string, number, number, number])[];
  try {
    limits = JSON.parse(about);
  } catch {
    throw corruptRecord("request");
  }
  const known = limits.map(([name, limit, duration, cost]) => ({ name, limit, duration, cost }));
  return readApplied(answer.split(" "), known);
}

function wholeOf(text: string | undefined): number {
  const number = whole(text);
  if (number === null) throw corruptRecord("counters");
  return number;
}
