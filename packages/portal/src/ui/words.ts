import type { PortalError, PortalKey } from "../client.js";
import type { Texts } from "../texts.js";

/** The texts of the page and their language. */
export interface Words {
  readonly texts: Texts;
  readonly language: string;
}

/** Languages that are written from right to left. Not every browser can be asked for the direction. */
const FROM_RIGHT = new Set(["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"]);

/** The direction in which a language is written. `language`: a language tag. */
export const directionOf = (language: string): "ltr" | "rtl" =>
  FROM_RIGHT.has(new Intl.Locale(language).language) ? "rtl" : "ltr";

/** A text with its placeholders filled in. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => `${values[name] ?? whole}`);
}

/** An instant as a day, or to the minute if it is near. */
export function when(at: number, language: string, now: number): string {
  const isNear = Math.abs(at - now) < 2 * 86_400_000;
  return new Intl.DateTimeFormat(language, {
    dateStyle: "medium",
    ...(isNear && { timeStyle: "short" }),
  }).format(at);
}

/** The state of a key in words, and whether it works. */
export function stateOf(
  key: PortalKey,
  { texts, language }: Words,
  now: number,
): { readonly text: string; readonly tone: "good" | "warn" | "off" } {
  const { expires, idleExpiresAt, startsAt, remaining } = key;
  const isOver = [expires, idleExpiresAt].some((at) => at !== undefined && at <= now);
  const at = (instant: number) => ({ when: when(instant, language, now) });
  if (key.rotatedTo !== undefined)
    return isOver || expires === undefined
      ? { text: texts.stateReplaced, tone: "off" }
      : { text: fill(texts.stateReplacedUntil, at(expires)), tone: "warn" };
  if (isOver) return { text: texts.stateExpired, tone: "off" };
  if (startsAt !== undefined && startsAt > now)
    return { text: fill(texts.stateStarts, at(startsAt)), tone: "warn" };
  if (remaining === 0) return { text: texts.stateUsedUp, tone: "off" };
  if (!key.enabled) return { text: texts.stateOff, tone: "off" };
  return { text: texts.stateActive, tone: "good" };
}

/** Whether the call may have been executed although it failed: its answer was lost. */
export function isUncertain({ status, code, outcome }: PortalError): boolean {
  return code === "OFFLINE" || (status >= 500 && outcome !== "not-applied");
}

/** An error in the page's words. `isWrite`: whether the call was a write. */
export function explain(error: PortalError, texts: Texts, isWrite = false): string {
  const { code, reason, details, issues } = error;
  if (isWrite && isUncertain(error)) return texts.errorUncertain;
  if (code === "OFFLINE") return texts.errorOffline;
  if (code === "STORE_UNAVAILABLE") return texts.errorStore;
  if (code === "NOT_FOUND") return texts.errorGone;
  if (code === "FORBIDDEN") return texts.errorForbidden;
  if (reason === "above-ceiling" && details.field === "externalId")
    return fill(texts.errorTooMany, { limit: `${details.limit}` });
  if (reason === "above-ceiling" && details.field === "graceMs")
    return fill(texts.errorGraces, { limit: `${details.limit}` });
  if (reason === "above-ceiling" && details.field === "expires") return texts.errorExpiry;
  if (reason === "key-rotated") return texts.errorRotated;
  if (reason === "key-expired") return texts.errorExpired;
  if (code === "PRECONDITION_FAILED") return texts.errorSetUp;
  if (code === "BAD_REQUEST") {
    const what = issues.map(({ path, message }) => `${path} ${message}`).join("; ");
    return fill(texts.errorInput, { what: what || error.message });
  }
  return texts.errorOther;
}
