import { z } from "zod";
import { identityType } from "../../records/identity.js";
import type { OperationContext } from "../context.js";
import type { IdentityReference } from "../input.js";
import { EITHER_ID, externalId, hasEitherId, id, parseInput } from "../input.js";
import { readRecord, usageOf } from "../read-record.js";
import { identityWant } from "./find.js";
import { type IdentityView, toIdentityView } from "./view.js";

/** Input of getIdentity. */
export interface GetIdentityInput extends IdentityReference {}

/** Schema of the input of getIdentity. */
export const getIdentityInput = z
  .strictObject({
    identityId: id.optional(),
    externalId: externalId.optional(),
  })
  .refine(hasEitherId, EITHER_ID);

/** @see IdentityOperations.getIdentity */
export async function getIdentity(
  context: OperationContext,
  input: GetIdentityInput,
): Promise<IdentityView> {
  const want = identityWant(parseInput(getIdentityInput, input));
  const { value, loaded } = await readRecord(context, identityType, want, "identity");
  return toIdentityView(value, usageOf(loaded), context.now());
}
