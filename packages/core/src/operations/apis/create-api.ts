import { z } from "zod";
import { type ApiRecord, apiType } from "../../records/api.js";
import { type OperationContext, transact } from "../context.js";
import { parseInput } from "../input.js";
import { apiName, deleteProtection, ipWhitelist } from "./settings.js";
import { apiFields } from "./view.js";

/** Input of createApi. */
export interface CreateApiInput {
  /** What it is called: 3 to 256 characters. */
  readonly name: string;
  /** Whether it is kept from being deleted: false unless given. */
  readonly deleteProtection?: boolean | undefined;
  /** Addresses and CIDR ranges that its keys may be used from, at most 1,000; from anywhere if empty, which it is unless given. */
  readonly ipWhitelist?: readonly string[] | undefined;
}

/** Schema of the input of createApi. */
export const createApiInput = z.strictObject({
  name: apiName,
  deleteProtection: deleteProtection.optional(),
  ipWhitelist: ipWhitelist.optional(),
});

/** An API that was created. */
export interface CreatedApi {
  /** `api_…` */
  readonly apiId: string;
}

/** @see ApiOperations.createApi */
export async function createApi(
  context: OperationContext,
  input: CreateApiInput,
): Promise<CreatedApi> {
  const parsed = parseInput(createApiInput, input);
  const now = context.now();
  const api: ApiRecord = {
    id: context.newId("api"),
    workspaceId: context.workspaceId,
    name: parsed.name,
    deleteProtection: parsed.deleteProtection ?? false,
    ipWhitelist: parsed.ipWhitelist ?? [],
    createdAt: now,
    version: 1,
  };
  await transact(context, async (transaction, audit) => {
    transaction.insert(apiType, api);
    audit({ type: "api.created", at: now, resourceId: api.id, after: apiFields(api) });
  });
  return { apiId: api.id };
}
