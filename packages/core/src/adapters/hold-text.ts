import { corruptRecord } from "../errors.js";
import type { HeldLimit, Hold, HoldSums, Raise, WindowDrop } from "../rules/hold.js";
import type { RememberedEnd } from "../store/settle.js";
import { wholeOf } from "./charge-text.js";

/**
 * Text of a hold, separated by spaces: keyId, identityId or `-`, createdAt, expiresAt, ttl, uses, usesOf or `-`, numbers separated by
 * commas, then for each limit `<owner or ->/<window>=<units>:<at>:<rate>`, and `:<flowed>` if it is known.
 */
export function holdText(hold: Hold): string {
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

/**
 * Text of a remembered end: until, and nothing else if the hold expired; otherwise endedAt, used uses, used units separated by commas or
 * `-`, then remaining, refilledAt and lastRefillAt of `usage`, each `-` if null, and {@link holdText}.
 */
export function rememberedEndText({ until, ended }: RememberedEnd): string {
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

/**
 * Text of the totals of holds, separated by `;`: nextEnd, open, uses, next, setBefore, the raises as `<before>/<free>/<units>` separated by
 * commas, and the drops separated by commas: `<before>+`, or `<before>-` with `isKept`, and the names, each followed by `|`.
 */
export function holdSumsText({
  nextEnd,
  open,
  uses,
  next,
  setBefore,
  raises,
  drops,
}: HoldSums): string {
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
