import { z } from "zod";
import { identityLimit, refillView } from "./limits.js";
import { listOf, metadata, pageEnd, shared, whole } from "./shared.js";

/** An identity beside its keys. */
export const keyIdentity = shared(
  "KeyIdentity",
  z.strictObject({ id: z.string(), externalId: z.string(), meta: metadata }),
);

/** An identity as it is read by itself. */
export const identity = shared(
  "Identity",
  z.strictObject({
    id: z.string(),
    externalId: z.string(),
    meta: metadata,
    ratelimits: listOf(identityLimit),
    remaining: whole().optional(),
    refill: refillView.optional(),
  }),
);

/** Response of identities.createIdentity. */
export const createdIdentity = z.strictObject({ identityId: z.string() });

/** Response of identities.listIdentities: an identity in a list has no metadata. */
export const identityList = z.strictObject({
  identities: listOf(
    z.strictObject({ id: z.string(), externalId: z.string(), ratelimits: listOf(identityLimit) }),
  ),
  ...pageEnd,
});
