import { z } from "zod";
import { apiType } from "../../records/api.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { readRecord } from "../read-record.js";
import { type ApiView, toApiView } from "./view.js";

/** Input of getApi. */
export interface GetApiInput {
  /** Id of the API. */
  readonly apiId: string;
}

/** Schema of the input of getApi. */
export const getApiInput = z.strictObject({ apiId: id });

/** @see ApiOperations.getApi */
export async function getApi(context: OperationContext, input: GetApiInput): Promise<ApiView> {
  const { apiId } = parseInput(getApiInput, input);
  const { value } = await readRecord(context, apiType, { kind: "api", id: apiId }, "API");
  return toApiView(value);
}
