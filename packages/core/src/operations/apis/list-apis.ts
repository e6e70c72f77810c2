import { z } from "zod";
import type { ListScope } from "../../lib/cursor.js";
import { apiType } from "../../records/api.js";
import type { OperationContext } from "../context.js";
import type { PageInput } from "../input.js";
import { cursor, pageLimit, parseInput } from "../input.js";
import { type PageInfo, readPage } from "../read-page.js";
import { type ApiView, toApiView } from "./view.js";

/** Input of listApis. */
export interface ListApisInput extends PageInput {}

/** Schema of the input of listApis. */
export const listApisInput = z.strictObject({ limit: pageLimit, cursor: cursor.optional() });

/** A page of APIs in the order of their creation; without `cursor` it is the last one. */
export interface ApiList extends PageInfo {
  /** In the order of their creation. */
  readonly apis: readonly ApiView[];
  /** Exact number of APIs of the workspace. */
  readonly total: number;
}

/** @see ApiOperations.listApis */
export async function listApis(
  context: OperationContext,
  input: ListApisInput = {},
): Promise<ApiList> {
  const page = parseInput(listApisInput, input);
  const scope: ListScope = { list: "apis", ownerId: context.workspaceId };
  const { items, total, info } = await readPage(context, apiType, "api", scope, page);
  return { apis: items.map(({ value }) => toApiView(value)), total, ...info };
}
