import { type BesideInput, isRootAllowed, type LatchkeyError } from "@latchkey/core";
import type { Caller } from "../auth/callers.js";
import type { HttpRequest } from "./http-request.js";

/** Name of the header that makes a write safe to send again. */
export const IDEMPOTENCY_KEY = "Idempotency-Key";

/** A request that may have been sent before. */
export interface Repeat {
  /** What core is given beside the input. */
  readonly beside: BesideInput;
  /** Refuses the request unless its result is remembered, because the record that decides about permissions is gone by then. */
  readonly refuseFirst: (refusal: LatchkeyError) => void;
}

/** Undefined for a request without the header. */
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
