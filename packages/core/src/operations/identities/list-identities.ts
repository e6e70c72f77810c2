import { z } from "zod";
import { encodeCursor, type ListScope } from "../../lib/cursor.js";
import { toWireLimits, type WireRateLimit } from "../../rules/rate-limit.js";
import { afterCursor, type OperationContext } from "../context.js";
import { cursor, pageLimit, parseInput } from "../input.js";

/** Input of listIdentities. `environment` is accepted and not used; `limit` 1 to 100, 100 unless given. */
export const listIdentitiesInput = z.strictObject({
  environment: z.string({ error: "must be a string" }).optional(),
  limit: pageLimit,
  cursor: cursor.optional(),
});

/** A page of identities in the order of their creation; without `cursor` it is the last one. */
export interface IdentityList {
  readonly identities: readonly {
    readonly id: string;
    readonly externalId: string;
    readonly ratelimits: readonly WireRateLimit[];
  }[];
  /** Exact number of identities of the workspace. */
  readonly total: number;
  readonly cursor?: string;
}

/** @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list. */
export async function listIdentities(
  context: OperationContext,
  input: z.input<typeof listIdentitiesInput> = {},
): Promise<IdentityList> {
  const parsed = parseInput(listIdentitiesInput, input);
  const scope: ListScope = { list: "identities", ownerId: context.workspaceId };
  const page = await context.store.listIdentities(context.workspaceId, {
    afterId: afterCursor(scope, parsed.cursor),
    limit: parsed.limit,
  });
  const last = page.items.at(-1);
  return {
    identities: page.items.map(({ identity: { id, externalId, ratelimits } }) => ({
      id,
      externalId,
      ratelimits: toWireLimits(ratelimits),
    })),
    total: page.total,
    ...(page.hasMore && last !== undefined && { cursor: encodeCursor(scope, last.identity.id) }),
  };
}
