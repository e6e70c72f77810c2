import { z } from "zod";
import { identityLimit, refillView } from "./limits.js";
import { listOf, metadata, pageEnd, shared, whole } from "./shared.js";

/** An identity as part of a key. */
export const keyIdentity = shared(
  "KeyIdentity",
  z.strictObject({ id: z.string(), externalId: z.string(), meta: metadata }),
);

/** Response of identities.getIdentity and identities.updateIdentity. */
export const identity = shared(
  "Identity",
  z.strictObject({
    id: z.string(),
    externalId: z.string(),
    meta: metadata,
    ratelimits: listOf(identityLimit),
    remaining: whole().optional(),
    reserved: whole(1).optional(),
    refill: refillView.optional(),
  }),
);

/** Response of identities.createIdentity. */
export const createdIdentity = z.strictObject({ identityId: z.string() });

/** Response of identities.deleteIdentity: what happened to its keys. */
export const deletedIdentity = z.strictObject({
  keys: z.enum(["unlinked", "disabled", "deleted"]),
  disabledKeys: whole().optional(),
  deletedKeys: whole().optional(),
});

/** Response of identities.eraseIdentity. */
export const erasedIdentity = z.strictObject({
  erasedIdentities: whole(),
  deletedKeys: whole(),
  erasedEvents: whole(),
});

/** Response of identities.listIdentities: an identity in a list has no metadata. */
export const identityList = z.strictObject({
  identities: listOf(
    z.strictObject({ id: z.string(), externalId: z.string(), ratelimits: listOf(identityLimit) }),
  ),
  scanned: whole().optional(),
  ...pageEnd,
});
