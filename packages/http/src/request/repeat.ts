import { type BesideInput, isRootAllowed, type LatchkeyError } from "@latchkey/core";
import type { Caller } from "../auth/callers.js";
import type { HttpRequest } from "./http-request.js";

/** Name of the header that makes a write safe to send again. */
export const IDEMPOTENCY_KEY = "Idempotency-Key";

/** A request with an `Idempotency-Key`, which may have been sent before. */
export interface Repeat {
  /** Passed to core in addition to the input. */
  readonly beside: BesideInput;
  /** Refuses the request unless its result is remembered: at a repeat, the record that decides about permissions may be gone. */
  readonly refuseFirst: (refusal: LatchkeyError) => void;
}

/** The repeat of a request; undefined for a request without the header. */
export function repeatOf(
  { permissions }: Pick<Caller, "permissions">,
  request: Pick<HttpRequest, "header">,
): Repeat | undefined {
  const idempotencyKey = request.header(IDEMPOTENCY_KEY.toLowerCase());
  if (idempotencyKey === null) return undefined;
  let refusal: LatchkeyError | undefined;
  return {
    beside: {
      idempotencyKey,
      mayDecrypt: (id) =>
        isRootAllowed(permissions, { resource: "api", id, action: "decrypt_key" }),
      beforeFirst: () => {
        if (refusal !== undefined) throw refusal;
      },
    },
    refuseFirst: (error) => {
      refusal = error;
    },
  };
}
