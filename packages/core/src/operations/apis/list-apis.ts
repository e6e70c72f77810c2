import { z } from "zod";
import { encodeCursor, type ListScope } from "../../lib/cursor.js";
import { afterCursor, type OperationContext } from "../context.js";
import { cursor, pageLimit, parseInput } from "../input.js";
import { type ListedApi, toListedApi } from "./view.js";

/** Input of listApis. `limit` 1 to 100, 100 unless given. */
export const listApisInput = z.strictObject({ limit: pageLimit, cursor: cursor.optional() });

/** A page of APIs in the order of their creation; without `cursor` it is the last one. */
export interface ApiList {
  readonly apis: readonly ListedApi[];
  /** Exact number of APIs of the workspace. */
  readonly total: number;
  readonly cursor?: string;
}

/** @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list. */
export async function listApis(
  context: OperationContext,
  input: z.input<typeof listApisInput> = {},
): Promise<ApiList> {
  const parsed = parseInput(listApisInput, input);
  const scope: ListScope = { list: "apis", ownerId: context.workspaceId };
  const page = await context.store.listApis(context.workspaceId, {
    afterId: afterCursor(scope, parsed.cursor),
    limit: parsed.limit,
  });
  const last = page.items.at(-1);
  return {
    apis: page.items.map(toListedApi),
    total: page.total,
    ...(page.hasMore && last !== undefined && { cursor: encodeCursor(scope, last.id) }),
  };
}
