import type { PermissionQuery, SpanMs } from "@latchkey/core";
import type { RefusalCode } from "./refusal.js";
import { REFUSAL_FORMS } from "./refusal-form.js";

/** Form of the bodies of refusals: problem details of RFC 9457, or the error body of latchkey's HTTP contract. Both name missing permissions. */
export type BodyForm = "problem+json" | "contract";

/** What the body tells about a refusal. */
export interface RefusalFacts {
  readonly code: RefusalCode;
  readonly status: number;
  readonly detail: string;
  readonly missing?: PermissionQuery | undefined;
  /** In ms; absent if waiting does not help. */
  readonly retryAfterMs?: SpanMs | undefined;
  /** Id of the request; null except in the contract's body. */
  readonly requestId: string | null;
}

/** Reason phrases: problem details without a type use the phrase of the status as title. */
const TITLES: Readonly<Record<number, string>> = {
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** The media type of each form. */
export const MEDIA_TYPES: Readonly<Record<BodyForm, string>> = {
  "problem+json": "application/problem+json",
  contract: "application/json",
};

/**
 * The body of a refusal. Problem details name no `type`, which makes it `about:blank`; `code`, `missing` and `retryAfterMs` are
 * extensions for programs.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9457
 */
export function refusalBody(
  form: BodyForm,
  { code, status, detail, missing, retryAfterMs, requestId }: RefusalFacts,
): Readonly<Record<string, unknown>> {
  const lacking = missing === undefined ? {} : { missing };
  if (form === "contract") {
    const { contractCode } = REFUSAL_FORMS[code];
    return { error: { code: contractCode, message: detail, requestId, ...lacking } };
  }
  return {
    title: TITLES[status],
    status,
    detail,
    code,
    ...lacking,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
