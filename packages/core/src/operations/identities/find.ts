import { badRequest } from "../../errors.js";
import type { Want } from "../../store/key-store.js";

/**
 * How an identity is found; `identityId` wins when both ids are given.
 *
 * @throws LatchkeyError `BAD_REQUEST` without either.
 */
export function identityWant(input: {
  readonly identityId?: string | undefined;
  readonly externalId?: string | undefined;
}): Want {
  if (input.identityId !== undefined) return { kind: "identity", id: input.identityId };
  if (input.externalId !== undefined)
    return { kind: "identity", index: "externalId", value: input.externalId };
  throw badRequest([{ path: "identityId", message: "is required where externalId is not given" }]);
}
