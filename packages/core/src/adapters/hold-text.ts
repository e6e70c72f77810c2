import { corruptRecord } from "../errors.js";
import type { HeldLimit, Hold, HoldSums, Raise, WindowDrop } from "../rules/hold.js";
import type { RememberedEnd } from "../store/settle.js";
import { wholeOf } from "./charge-text.js";

/**
 * A hold as stores write it down, in words with a space between: id of the key, of the identity or `-`, createdAt, expiresAt, ttl, uses, place
 * of the record whose uses they are or `-`, its numbers with commas between, then for each limit `<place or ->/<window>=<units>:<at>:<rate>`.
 */
export function holdText(hold: Hold): string {
  const limits = hold.limits.map(
    ({ owner, window, units, at, rate }) => `${owner ?? "-"}/${window}=${units}:${at}:${rate}`,
  );
  const { keyId, identityId, createdAt, expiresAt, ttl, uses, usesOf, numbers } = hold;
  const words = [keyId, identityId ?? "-", createdAt, expiresAt, ttl, uses, usesOf ?? "-"];
  return [...words, numbers.join(","), ...limits].join(" ");
}

/** @throws LatchkeyError `STORE_CORRUPT` for what {@link holdText} cannot have written. */
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
  const [, owner, window, units, at, rate] = /^(-|\d)\/([^=]+)=(\d+):(\d+):(\d+)$/.exec(text) ?? [];
  if (window === undefined) throw corruptRecord("reservation");
  return {
    owner: owner === "-" ? null : Number(owner),
    window,
    units: wholeOf(units),
    at: wholeOf(at),
    rate: wholeOf(rate),
  };
}

/**
 * What is remembered of a hold that has ended, as stores write it down: the instant until which it is, and for one that ended by itself
 * nothing else; otherwise endedAt, uses and units that were used, these with commas between or `-`, then remaining, refilledAt and
 * lastRefillAt of the uses afterwards, each `-` where there is none, and {@link holdText}.
 */
export function rememberedEndText({ until, ended }: RememberedEnd): string {
  if (ended === null) return String(until);
  const { endedAt, used, usage, hold } = ended;
  const limits = used.limits.length === 0 ? "-" : used.limits.join(",");
  const left = [usage?.remaining ?? "-", usage?.refilledAt ?? "-", usage?.lastRefillAt ?? "-"];
  return [until, endedAt, used.uses, limits, ...left, holdText(hold)].join(" ");
}

/** @throws LatchkeyError `STORE_CORRUPT` for what {@link rememberedEndText} cannot have written. */
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
 * What is held beside counters, as stores write it down, without spaces: nextEnd, open, uses, next, setBefore, then for each raise
 * `<before>/<free>/<units>` with commas between, and for each drop `<before>+` or, of those that are kept, `<before>-` and the names with a
 * `|` behind each, with commas between; a `;` between all of these.
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

/** @throws LatchkeyError `STORE_CORRUPT` for what {@link holdSumsText} cannot have written. */
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
