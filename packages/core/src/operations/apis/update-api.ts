import { z } from "zod";
import { changesNothing } from "../../audit/entry.js";
import { type ApiRecord, apiType } from "../../records/api.js";
import { versionAfter } from "../../rules/record-version.js";
import { type OperationContext, transact } from "../context.js";
import { id, parseInput } from "../input.js";
import { readRecordIn } from "../read-record.js";
import { apiName, deleteProtection, ipWhitelist } from "./settings.js";
import { apiFields } from "./view.js";

/** Input of updateApi: what is omitted stays. */
export interface UpdateApiInput {
  /** Id of the API. */
  readonly apiId: string;
  /** What it is called: 3 to 256 characters. */
  readonly name?: string | undefined;
  /** Whether it is kept from being deleted. */
  readonly deleteProtection?: boolean | undefined;
  /** The whole list of addresses and CIDR ranges, at most 1,000. An empty list or null: from anywhere. */
  readonly ipWhitelist?: readonly string[] | null | undefined;
}

/** Schema of the input of updateApi. */
export const updateApiInput = z.strictObject({
  apiId: id,
  name: apiName.optional(),
  deleteProtection: deleteProtection.optional(),
  ipWhitelist: ipWhitelist.nullish(),
});

/** @see ApiOperations.updateApi */
export async function updateApi(
  context: OperationContext,
  input: UpdateApiInput,
): Promise<Record<string, never>> {
  const { apiId, ...wanted } = parseInput(updateApiInput, input);
  await transact(context, async (transaction, audit) => {
    const want = { kind: "api", id: apiId } as const;
    const { value: api } = await readRecordIn(transaction, apiType, want, "API");
    const after: ApiRecord = {
      ...api,
      name: wanted.name ?? api.name,
      deleteProtection: wanted.deleteProtection ?? api.deleteProtection,
      ipWhitelist: wanted.ipWhitelist === undefined ? api.ipWhitelist : (wanted.ipWhitelist ?? []),
      version: versionAfter(api.version, true),
    };
    const change = {
      type: "api.updated",
      at: context.now(),
      resourceId: apiId,
      before: apiFields(api),
      after: apiFields(after),
    } as const;
    if (changesNothing(change)) return;
    transaction.update(apiType, api, after);
    transaction.raiseRevision();
    audit(change);
  });
  return {};
}
