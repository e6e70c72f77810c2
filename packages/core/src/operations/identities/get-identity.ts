import { z } from "zod";
import { identityType } from "../../records/identity.js";
import type { OperationContext } from "../context.js";
import { EITHER_ID, externalId, hasEitherId, id, parseInput } from "../input.js";
import { readRecord, usageOf } from "../read-record.js";
import { identityWant } from "./find.js";
import { type IdentityView, toIdentityView } from "./view.js";

/** Input of getIdentity: one of the two ids; `identityId` wins when both are given. */
export const getIdentityInput = z
  .strictObject({
    identityId: id.optional(),
    externalId: externalId.optional(),
  })
  .refine(hasEitherId, EITHER_ID);

/** @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity, `BAD_REQUEST` without either id. */
export async function getIdentity(
  context: OperationContext,
  input: z.input<typeof getIdentityInput>,
): Promise<IdentityView> {
  const want = identityWant(parseInput(getIdentityInput, input));
  const { value, loaded } = await readRecord(context, identityType, want, "identity");
  return toIdentityView(value, usageOf(loaded), context.now());
}
