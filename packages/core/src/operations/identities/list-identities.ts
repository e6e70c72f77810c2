import { z } from "zod";
import type { ListScope } from "../../lib/cursor.js";
import { identityType } from "../../records/identity.js";
import { toWireLimits, type WireRateLimit } from "../../rules/rate-limit.js";
import type { OperationContext } from "../context.js";
import { cursor, pageLimit, parseInput } from "../input.js";
import { type PageInfo, readPage } from "../read-page.js";

/** Input of listIdentities. `environment` is accepted and not used; `limit` 1 to 100, 100 unless given. */
export const listIdentitiesInput = z.strictObject({
  environment: z.string({ error: "must be a string" }).optional(),
  limit: pageLimit,
  cursor: cursor.optional(),
});

/** A page of identities in the order of their creation; without `cursor` it is the last one. */
export interface IdentityList extends PageInfo {
  readonly identities: readonly {
    readonly id: string;
    readonly externalId: string;
    readonly ratelimits: readonly WireRateLimit[];
  }[];
  /** Exact number of identities of the workspace. */
  readonly total: number;
}

/** @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list. */
export async function listIdentities(
  context: OperationContext,
  input: z.input<typeof listIdentitiesInput> = {},
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
