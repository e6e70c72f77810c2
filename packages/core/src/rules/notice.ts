import type { EpochMs, SpanMs } from "../time.js";
import { DURATION_ERROR, durationMs } from "./duration.js";
import { isExpired } from "./keys/expiry.js";

/** When something is noticed. */
export interface NoticeSettings {
  /** How long before it expires a key expires soon. */
  readonly expiresWithin: SpanMs;
}

/** The span of `expiresWithin` unless it is given: a week. */
const USUAL_SPAN: SpanMs = 7 * 86_400_000;

/** Reads the option `notice` of createLatchkey. @throws TypeError naming what is wrong, and its bound. */
export function readNoticeSettings(notice: unknown = {}): NoticeSettings {
  if (typeof notice !== "object" || notice === null || Array.isArray(notice))
    throw new TypeError('"notice" must be an object of options');
  const unknown = Object.keys(notice).find((name) => name !== "expiresWithin");
  if (unknown !== undefined) throw new TypeError(`"notice.${unknown}" is not an option`);
  const { expiresWithin: given = USUAL_SPAN } = notice as Readonly<Record<string, unknown>>;
  const expiresWithin = durationMs(given);
  if (expiresWithin === null) throw new TypeError(`"notice.expiresWithin" ${DURATION_ERROR}`);
  return { expiresWithin };
}

/** What there is to notice of an expiry at `now`; null: nothing yet. */
export function noticeOfExpiry(
  expires: EpochMs,
  now: EpochMs,
  { expiresWithin }: NoticeSettings,
): "key.hasExpired" | "key.expiresSoon" | null {
  if (isExpired(expires, now)) return "key.hasExpired";
  return expires - now <= expiresWithin ? "key.expiresSoon" : null;
}
