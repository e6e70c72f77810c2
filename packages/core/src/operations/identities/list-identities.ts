import { z } from "zod";
import type { ListScope } from "../../lib/cursor.js";
import { identityType } from "../../records/identity.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import { toWireLimits } from "../../rules/rate-limit.js";
import type { OperationContext } from "../context.js";
import type { PageInput } from "../input.js";
import { cursor, pageLimit, parseInput } from "../input.js";
import { type PageInfo, readPage } from "../read-page.js";
import type { IdentityView } from "./view.js";

/** Input of listIdentities. */
export interface ListIdentitiesInput extends PageInput {
  /** Accepted for older clients, without effect. */
  readonly environment?: string | undefined;
}

/** Schema of the input of listIdentities. */
export const listIdentitiesInput = z.strictObject({
  environment: z.string({ error: "must be a string" }).optional(),
  limit: pageLimit,
  cursor: cursor.optional(),
});

/** An identity as it is listed. */
export interface ListedIdentity<Types extends LatchkeyTypes = DefaultTypes>
  extends Pick<IdentityView<Types>, "id" | "externalId" | "ratelimits"> {}

/** A page of identities in the order of their creation; without `cursor` it is the last one. */
export interface IdentityList<Types extends LatchkeyTypes = DefaultTypes> extends PageInfo {
  /** In the order of their creation. */
  readonly identities: readonly ListedIdentity<Types>[];
  /** Exact number of identities of the workspace. */
  readonly total: number;
}

/** @see IdentityOperations.listIdentities */
export async function listIdentities(
  context: OperationContext,
  input: ListIdentitiesInput = {},
): Promise<IdentityList> {
  const page = parseInput(listIdentitiesInput, input);
  const scope: ListScope = { list: "identities", ownerId: context.workspaceId };
  const { items, total, info } = await readPage(context, identityType, "identity", scope, page);
  return {
    identities: items.map(({ value: { id, externalId, ratelimits } }) => ({
      id,
      externalId,
      ratelimits: toWireLimits(ratelimits),
    })),
    total,
    ...info,
  };
}
