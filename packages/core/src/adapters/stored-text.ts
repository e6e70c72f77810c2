import { corruptRecord, LatchkeyError } from "../errors.js";
import { isWhole, parseWhole } from "../lib/whole.js";
import type { HeldLimit, Hold, HoldSums, Raise, WindowDrop } from "../rules/hold.js";
import { roomOf } from "../rules/limit-algorithm.js";
import { isLimitAlgorithm, type LimitState, NONE_EARLIER } from "../rules/limit-state.js";
import {
  type AppliedCharge,
  type ChargePlan,
  type ChargeResult,
  type LimitCharge,
  readLimit,
} from "../store/charge.js";
import type { RememberedEnd } from "../store/settle.js";

/** The fields of a limit that are remembered with a request, whatever the limits are when it is repeated. */
const REMEMBERED = ["name", "limit", "duration", "cost", "algorithm", "burst", "shadow"] as const;

/** The known fields of a limit, apart from its state. */
type KnownLimit = Pick<LimitCharge, (typeof REMEMBERED)[number]>;

const KINDS: readonly unknown[] = ["charged", "rate-limited", "usage-exceeded"];

/** The limits of a remembered request as a store keeps them: one line, for {@link readChargeText}. */
export function limitsText(limits: readonly LimitCharge[]): string {
  return JSON.stringify(limits, [...REMEMBERED]);
}

/**
 * Parses the reply of a script that charges.
 *
 * @throws LatchkeyError `STORE_CORRUPT` for damaged counters; `INTERNAL_SERVER_ERROR` for anything else.
 */
export function readChargeText(text: string, { limits }: ChargePlan): ChargeResult {
  // In upper or lower case, the reply is one of:
  // - `stale 0` for the revision; `stale <place>`, `unsettled <place>` and `full <place>` for a record, counted from 1; `conflict`; `corrupt`
  // - `charged`, `rate-limited` or `usage-exceeded`, then the uses left or `-`, then limitStateText of each limit at the instant of the
  //   charge, followed by `!` for an exceeded shadow limit; then, if something is held, the id and the end of the hold
  // - `repeat` and such a reply, a line feed, and the remembered limitsText
  const words = text.split(" ");
  if (KINDS.includes(words[0])) return readApplied(words, limits);
  switch (words[0]?.toLowerCase()) {
    case "stale":
      return { kind: "stale", moved: words[1] === "0" ? "revision" : placeOf(words[1]) };
    case "unsettled":
      return { kind: "unsettled", record: placeOf(words[1]) };
    case "full":
      return { kind: "too-many-holds", record: placeOf(words[1]) };
    case "conflict":
      return { kind: "conflict" };
    case "corrupt":
      throw corruptRecord("counters");
    case "repeat":
      return readRemembered(text.slice("repeat ".length));
    default:
      throw unknownWords();
  }
}

function unknownWords(): LatchkeyError {
  return new LatchkeyError("INTERNAL_SERVER_ERROR", "a charge was answered in unknown words");
}

/** Index of a record whose place is counted from 1. */
function placeOf(word: string | undefined): number {
  const place = parseWhole(word);
  if (place === null || place === 0) throw unknownWords();
  return place - 1;
}

function readRemembered(text: string): AppliedCharge {
  const [answer = "", line = ""] = text.split("\n");
  let limits: unknown;
  try {
    limits = JSON.parse(line);
  } catch {
    // Handled like any other damage below.
  }
  if (!Array.isArray(limits)) throw corruptRecord("request");
  return { ...readApplied(answer.split(" "), limits.map(readKnownLimit)), isRepeat: true };
}

/** A limit as {@link limitsText} wrote it. PostgreSQL stores first kept only its values, in the same order. */
function readKnownLimit(stored: Partial<KnownLimit> | null): KnownLimit {
  const values = Array.isArray(stored) ? stored : REMEMBERED.map((field) => stored?.[field]);
  const [
    name,
    limit,
    duration,
    cost,
    algorithm = "fixed",
    burst = 0,
    shadow = false,
  ]: readonly unknown[] = values;
  const isCounted = isWhole(limit) && isWhole(duration) && isWhole(cost) && isWhole(burst);
  if (typeof name === "string" && isCounted && isLimitAlgorithm(algorithm))
    return { name, limit, duration, cost, algorithm, burst, shadow: shadow === true };
  throw corruptRecord("request");
}

function readApplied(words: readonly string[], limits: readonly KnownLimit[]): AppliedCharge {
  const [kind, left] = words;
  if (!KINDS.includes(kind)) throw corruptRecord("request");
  const readings = limits.map((limit, index) => {
    const word = words[index + 2] ?? "";
    const isMarked = word.endsWith("!");
    const state = parseLimitState(isMarked ? word.slice(0, -1) : word);
    const isOver = kind === "rate-limited" && !limit.shadow && limit.cost > roomOf(state, limit);
    return readLimit(limit, state, isMarked || isOver);
  });
  const remaining = left === "-" ? null : wholeOf(left);
  const applied = { kind: kind as AppliedCharge["kind"], remaining, limits: readings };
  // Absent if nothing is held, and in texts from before there were holds.
  const [id, expiresAt] = words.slice(limits.length + 2);
  return id === undefined ? applied : { ...applied, hold: { id, expiresAt: wholeOf(expiresAt) } };
}

/** Text of a limit's state: `<at>:<used>`, and `:<earlier>` separated by commas if there are any. */
export function limitStateText({ at, used, earlier }: LimitState): string {
  return earlier.length === 0 ? `${at}:${used}` : `${at}:${used}:${earlier.join(",")}`;
}

/** @throws LatchkeyError `STORE_CORRUPT` unless {@link limitStateText} wrote it. */
export function parseLimitState(text: string): LimitState {
  const [at, used, earlier, ...more] = text.split(":");
  if (more.length > 0) throw corruptRecord("counters");
  const groups = earlier === undefined ? NONE_EARLIER : earlier.split(",").map(wholeOf);
  return { at: wholeOf(at), used: wholeOf(used), earlier: groups };
}

/** A whole number as a store wrote it. @throws LatchkeyError `STORE_CORRUPT` for anything else. */
function wholeOf(text: string | undefined): number {
  const number = parseWhole(text);
  if (number === null) throw corruptRecord("counters");
  return number;
}

/** Text of a hold. */
export function holdText(hold: Hold): string {
  // Separated by spaces: keyId, identityId or `-`, createdAt, expiresAt, ttl, uses, usesOf or `-`, numbers separated by commas, then for each
  // limit `<owner or ->/<window>=<units>:<at>:<rate>`, and `:<flowed>` if it is known.
  const limits = hold.limits.map(
    ({ owner, window, units, at, rate, flowed }) =>
      `${owner ?? "-"}/${window}=${units}:${at}:${rate}${flowed === undefined ? "" : `:${flowed}`}`,
  );
  const { keyId, identityId, createdAt, expiresAt, ttl, uses, usesOf, numbers } = hold;
  const words = [keyId, identityId ?? "-", createdAt, expiresAt, ttl, uses, usesOf ?? "-"];
  return [...words, numbers.join(","), ...limits].join(" ");
}

/** @throws LatchkeyError `STORE_CORRUPT` unless {@link holdText} wrote it. */
export function parseHold(id: string, text: string): Hold {
  const [keyId = "", identityId = "", createdAt, expiresAt, ttl, uses, usesOf, numbers, ...limits] =
    text.split(" ");
  if (keyId === "" || identityId === "") throw corruptRecord("reservation");
  return {
    id,
    keyId,
    identityId: identityId === "-" ? null : identityId,
    createdAt: wholeOf(createdAt),
    expiresAt: wholeOf(expiresAt),
    ttl: wholeOf(ttl),
    uses: wholeOf(uses),
    usesOf: usesOf === "-" ? null : wholeOf(usesOf),
    numbers: (numbers ?? "").split(",").map(wholeOf),
    limits: limits.map(heldLimit),
  };
}

function heldLimit(text: string): HeldLimit {
  const [, owner, window, units, at, rate, flowed] =
    /^(-|\d)\/([^=]+)=(\d+):(\d+):(\d+)(?::(\d+))?$/.exec(text) ?? [];
  if (window === undefined) throw corruptRecord("reservation");
  return {
    owner: owner === "-" ? null : Number(owner),
    window,
    units: wholeOf(units),
    at: wholeOf(at),
    rate: wholeOf(rate),
    ...(flowed !== undefined && { flowed: wholeOf(flowed) }),
  };
}

/** Text of a remembered end. */
export function rememberedEndText({ until, ended }: RememberedEnd): string {
  // `until`, and nothing else if the hold expired; otherwise endedAt, used uses, used units separated by commas or `-`, then remaining,
  // refilledAt and lastRefillAt of `usage`, each `-` if null, and holdText.
  if (ended === null) return String(until);
  const { endedAt, used, usage, hold } = ended;
  const limits = used.limits.length === 0 ? "-" : used.limits.join(",");
  const left = [usage?.remaining ?? "-", usage?.refilledAt ?? "-", usage?.lastRefillAt ?? "-"];
  return [until, endedAt, used.uses, limits, ...left, holdText(hold)].join(" ");
}

/** @throws LatchkeyError `STORE_CORRUPT` unless {@link rememberedEndText} wrote it. */
export function parseRememberedEnd(id: string, text: string): RememberedEnd {
  const [until, endedAt, uses, limits = "", remaining = "", refilledAt, lastRefillAt, ...hold] =
    text.split(" ");
  if (endedAt === undefined) return { until: wholeOf(until), ended: null };
  const left = remaining === "-" ? null : wholeOf(remaining);
  const usage =
    left === null
      ? null
      : {
          remaining: left,
          refilledAt: wholeOf(refilledAt),
          lastRefillAt: lastRefillAt === "-" ? null : wholeOf(lastRefillAt),
        };
  const used = {
    uses: wholeOf(uses),
    limits: limits === "-" ? [] : limits.split(",").map(wholeOf),
  };
  const ended = { hold: parseHold(id, hold.join(" ")), used, usage, endedAt: wholeOf(endedAt) };
  return { until: wholeOf(until), ended };
}

/** Text of the totals of holds. */
export function holdSumsText(sums: HoldSums): string {
  // Separated by `;`: nextEnd, open, uses, next, setBefore, the raises as `<before>/<free>/<units>` separated by commas, and the drops
  // separated by commas: `<before>+`, or `<before>-` with `isKept`, and the names, each followed by `|`.
  const { nextEnd, open, uses, next, setBefore, raises, drops } = sums;
  const raised = raises.map(({ before, free, units }) => `${before}/${free}/${units}`).join(",");
  const dropped = drops
    .map(
      ({ before, windows, isKept }) =>
        `${before}${isKept ? "-" : "+"}${windows.map((each) => `${each}|`).join("")}`,
    )
    .join(",");
  return [nextEnd, open, uses, next, setBefore, raised, dropped].join(";");
}

/** @throws LatchkeyError `STORE_CORRUPT` unless {@link holdSumsText} wrote it. */
export function parseHoldSums(text: string): HoldSums {
  const [nextEnd, open, uses, next, setBefore, raises, drops, ...more] = text.split(";");
  if (raises === undefined || drops === undefined || more.length > 0)
    throw corruptRecord("counters");
  return {
    nextEnd: wholeOf(nextEnd),
    open: wholeOf(open),
    uses: wholeOf(uses),
    next: wholeOf(next),
    setBefore: wholeOf(setBefore),
    raises: raises === "" ? [] : raises.split(",").map(raiseOf),
    drops: drops === "" ? [] : drops.split(",").map(dropOf),
  };
}

function raiseOf(text: string): Raise {
  const [before, free, units] = text.split("/").map(wholeOf);
  if (before === undefined || free === undefined || units === undefined)
    throw corruptRecord("counters");
  return { before, free, units };
}

function dropOf(text: string): WindowDrop {
  const [, before, mark, names] = /^(\d+)([+-])((?:[^|]+\|)*)$/.exec(text) ?? [];
  if (names === undefined) throw corruptRecord("counters");
  return { before: wholeOf(before), windows: names.split("|").slice(0, -1), isKept: mark === "-" };
}
