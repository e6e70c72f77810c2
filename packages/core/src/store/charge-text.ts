import { corruptRecord, LatchkeyError } from "../errors.js";
import { isWhole, parseWhole } from "../lib/whole.js";
import { isExceeded } from "../rules/rate-window.js";
import {
  type AppliedCharge,
  type ChargePlan,
  type ChargeResult,
  type LimitCharge,
  readLimit,
} from "./charge.js";

/** What of a limit is remembered along with a request, whatever the limits are when it is repeated. */
const REMEMBERED = ["name", "limit", "duration", "cost"] as const;

/** What is known of a limit beside its window. */
type KnownLimit = Pick<LimitCharge, (typeof REMEMBERED)[number]>;

const KINDS: readonly unknown[] = ["charged", "rate-limited", "usage-exceeded"];

/** What a store in another language keeps of the limits of a request beside their windows: one line. {@link readChargeText} reads it. */
export function limitsText(limits: readonly LimitCharge[]): string {
  return JSON.stringify(limits, [...REMEMBERED]);
}

/**
 * What a store that charges in another language answers, as a {@link ChargeResult}. The words, in either case:
 *
 * - `stale 0` for the revision, `stale <place>` for a record, counted from 1; `conflict`; `corrupt`
 * - `charged`, `rate-limited` or `usage-exceeded`, then the uses left or `-`, then `<startedAt>:<used>` for each limit
 * - `repeat` and such an answer, a line feed, and {@link limitsText} as it was remembered
 *
 * @throws LatchkeyError `STORE_CORRUPT` for damaged counters; `INTERNAL_SERVER_ERROR` for anything else.
 */
export function readChargeText(text: string, { limits }: ChargePlan): ChargeResult {
  const words = text.split(" ");
  if (KINDS.includes(words[0])) return readApplied(words, limits);
  switch (words[0]?.toLowerCase()) {
    case "stale":
      return { kind: "stale", moved: words[1] === "0" ? "revision" : Number(words[1]) - 1 };
    case "conflict":
      return { kind: "conflict" };
    case "corrupt":
      throw corruptRecord("counters");
    case "repeat":
      return readRemembered(text.slice("repeat ".length));
    default:
      throw new LatchkeyError("INTERNAL_SERVER_ERROR", "a charge was answered in unknown words");
  }
}

function readRemembered(text: string): AppliedCharge {
  const [answer = "", line = ""] = text.split("\n");
  let limits: unknown;
  try {
    limits = JSON.parse(line);
  } catch {
    // As if it were something else.
  }
  if (!Array.isArray(limits)) throw corruptRecord("request");
  return readApplied(answer.split(" "), limits.map(readKnownLimit));
}

/** A limit as {@link limitsText} wrote it. PostgreSQL stores kept its values alone at first, in the same order. */
function readKnownLimit(stored: Partial<KnownLimit> | null): KnownLimit {
  const values = Array.isArray(stored) ? stored : REMEMBERED.map((field) => stored?.[field]);
  const [name, limit, duration, cost]: readonly unknown[] = values;
  if (typeof name === "string" && isWhole(limit) && isWhole(duration) && isWhole(cost))
    return { name, limit, duration, cost };
  throw corruptRecord("request");
}

function readApplied(words: readonly string[], limits: readonly KnownLimit[]): AppliedCharge {
  const [kind, left] = words;
  if (!KINDS.includes(kind)) throw corruptRecord("request");
  const readings = limits.map((limit, index) => {
    const [startedAt, used] = (words[index + 2] ?? "").split(":");
    const window = { startedAt: wholeOf(startedAt), used: wholeOf(used) };
    const isOver = kind === "rate-limited" && isExceeded(window.used, limit.cost, limit.limit);
    return readLimit(limit, window, isOver);
  });
  const remaining = left === "-" ? null : wholeOf(left);
  return { kind: kind as AppliedCharge["kind"], remaining, limits: readings };
}

function wholeOf(text: string | undefined): number {
  const number = parseWhole(text);
  if (number === null) throw corruptRecord("counters");
  return number;
}
