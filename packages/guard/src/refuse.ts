import type { EpochMs, LatchkeyError, RefusalHints, SpanMs, VerifiedKey } from "@latchkey/core";
import { writeChallenge } from "./challenge.js";
import { rateLimitFields, wholeSeconds } from "./rate-limit-fields.js";
import type { Refusal, RefusalCode, RefusedVerdict } from "./refusal.js";
import { type BodyForm, MEDIA_TYPES, refusalBody } from "./refusal-body.js";
import { REFUSAL_FORMS } from "./refusal-form.js";

/** Settings for the responses of a guard that refuses. */
export interface RefusalStyle {
  readonly problem: BodyForm;
  readonly usedUpStatus: 429 | 402;
  /** Creates an id for a request, for a body that names it. */
  readonly requestId: () => string;
}

/** What is known about a refusal besides its code. */
interface Grounds {
  /** Replaces the usual text of the code. */
  readonly detail?: string;
  readonly verdict?: RefusedVerdict;
  readonly retryAfterMs?: SpanMs | undefined;
  /** Unix epoch ms, by the clock of the verdict. */
  readonly now?: EpochMs;
}

/** How long a client should wait if the store does not respond. */
const STORE_RETRY_MS = 1_000;

/** The refusal of a request without a key, or with a malformed one. */
export function refuseCredential(
  style: RefusalStyle,
  code: "KEY_MISSING" | "KEY_MALFORMED",
  detail?: string,
): Refusal {
  return refuse(style, code, detail === undefined ? {} : { detail });
}

/**
 * The refusal for a verdict.
 *
 * @param now - Unix epoch ms, by the clock of the verdict.
 */
export function refuseVerdict(style: RefusalStyle, verdict: RefusedVerdict, now: EpochMs): Refusal {
  // A newer version of core may have verdicts that are not known here.
  const code = Object.hasOwn(REFUSAL_FORMS, verdict.code) ? verdict.code : "FORBIDDEN";
  const { retryAfterMs }: Ground = ownOf<object>(verdict);
  return refuse(style, code, { verdict, retryAfterMs, now });
}

/** The refusal of a request that could not be decided because of an error. It repeats nothing of the error. */
export function refuseError(style: RefusalStyle, error: unknown): Refusal {
  // Not `instanceof`: bundlers of development servers load core more than once.
  if (isLatchkeyError(error)) {
    if (error.code === "STORE_UNAVAILABLE")
      return refuse(style, "STORE_UNAVAILABLE", { retryAfterMs: STORE_RETRY_MS });
    if (error.reason === "workspace-disabled") return refuse(style, "FORBIDDEN", {});
  }
  return refuseFailure(style);
}

/** Whether an error is latchkey's own, rather than one of the layers below. */
export function isLatchkeyError(error: unknown): error is LatchkeyError {
  return error instanceof Error && Object.hasOwn(error, "code") && error.name === "LatchkeyError";
}

/** The refusal of a request whose address has no room for another failure. `retryAfterMs`: ms until it has. */
export function refuseAddress(style: RefusalStyle, retryAfterMs: SpanMs): Refusal {
  return refuse(style, "ADDRESS_LIMITED", { retryAfterMs });
}

/** The refusal of a request during which something failed in the host. */
export function refuseFailure(style: RefusalStyle): Refusal {
  return refuse(style, "INTERNAL_SERVER_ERROR", {});
}

function refuse(style: RefusalStyle, code: RefusalCode, grounds: Grounds): Refusal {
  const form = ownOf(REFUSAL_FORMS[code]);
  const { detail = form.detail, verdict, retryAfterMs, now = 0 } = ownOf(grounds);
  const { challenge } = form;
  const status = code === "USAGE_EXCEEDED" ? style.usedUpStatus : form.status;
  const { missing, ratelimits }: Ground = ownOf<object>(verdict ?? {});
  const headers: Record<string, string> = { "Content-Type": MEDIA_TYPES[style.problem] };
  if (challenge !== undefined)
    headers["WWW-Authenticate"] = writeChallenge(challenge, detail, missing);
  if (retryAfterMs !== undefined) headers["Retry-After"] = `${wholeSeconds(retryAfterMs)}`;
  Object.assign(headers, rateLimitFields(ratelimits, now));
  // The contract names each request, in the body and in a header.
  const requestId = style.problem === "contract" ? style.requestId() : null;
  if (requestId !== null) headers["X-Request-Id"] = requestId;
  const facts = { code, status, detail, missing, retryAfterMs, requestId };
  const body = refusalBody(style.problem, facts);
  return { admitted: false, code, status, headers, body, verdict: verdict ?? null };
}

/** Fields of a verdict that explain a refusal. */
type Ground = RefusalHints & Pick<VerifiedKey, "ratelimits">;

/** The own fields of an object, so that a polluted prototype cannot add any. */
function ownOf<Fields extends object>(fields: Fields): Fields {
  return Object.assign(Object.create(null) as object, fields);
}
