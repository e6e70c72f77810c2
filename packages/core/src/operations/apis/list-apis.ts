import { z } from "zod";
import type { ListScope } from "../../lib/cursor.js";
import { apiType } from "../../records/api.js";
import type { OperationContext } from "../context.js";
import { cursor, pageLimit, parseInput } from "../input.js";
import { type PageInfo, readPage } from "../read-page.js";
import { type ApiView, toApiView } from "./view.js";

/** Input of listApis. `limit` 1 to 100, 100 unless given. */
export const listApisInput = z.strictObject({ limit: pageLimit, cursor: cursor.optional() });

/** A page of APIs in the order of their creation; without `cursor` it is the last one. */
export interface ApiList extends PageInfo {
  readonly apis: readonly ApiView[];
  /** Exact number of APIs of the workspace. */
  readonly total: number;
}

/** @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list. */
export async function listApis(
  context: OperationContext,
  input: z.input<typeof listApisInput> = {},
): Promise<ApiList> {
  const page = parseInput(listApisInput, input);
  const scope: ListScope = { list: "apis", ownerId: context.workspaceId };
  const { items, total, info } = await readPage(context, apiType, "api", scope, page);
  return { apis: items.map(({ value }) => toApiView(value)), total, ...info };
}
