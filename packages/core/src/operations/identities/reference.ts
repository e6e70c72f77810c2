import { badField } from "../../errors.js";
import type { Want } from "../../store/key-store.js";
import { evenWithIssues, externalId, id, optional } from "../input.js";

/** An identity, by at least one of its ids. */
export interface IdentityReference {
  /** Id of the identity. It wins if both are given. */
  readonly identityId?: string | undefined;
  /** Your own id of the user: 1 to 255 characters. */
  readonly externalId?: string | undefined;
}

export const identityIds = optional({ identityId: id, externalId });

/** Whether an identity is named; for use with {@link EITHER_ID}. */
export function hasEitherId(ids: {
  readonly identityId?: unknown;
  readonly externalId?: unknown;
}): boolean {
  return ids.identityId !== undefined || ids.externalId !== undefined;
}

/** The issue of an input that names no identity. */
export const EITHER_ID = {
  ...evenWithIssues,
  path: ["identityId"],
  error: "is required if externalId is not given",
};

/** How to find an identity; `identityId` wins if both ids are given. @throws LatchkeyError `BAD_REQUEST` without either. */
export function identityWant(input: IdentityReference): Want {
  if (input.identityId !== undefined) return { kind: "identity", id: input.identityId };
  if (input.externalId !== undefined)
    return { kind: "identity", index: "externalId", value: input.externalId };
  throw badField("identityId", EITHER_ID.error);
}
