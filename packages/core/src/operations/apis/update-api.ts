import { z } from "zod";
import { type ApiRecord, apiType } from "../../records/api.js";
import { versionAfter } from "../../rules/record-version.js";
import { type OperationContext, transact } from "../context.js";
import { id, parseInput } from "../input.js";
import { readRecordIn } from "../read-record.js";
import { apiName, deleteProtection, ipWhitelist } from "./settings.js";
import { apiFields } from "./view.js";

/**
 * Input of updateApi: an omitted field is left as it is. `ipWhitelist` replaces the whole list, at most 1,000 addresses and
 * CIDR ranges; an empty list or null clears it.
 */
export const updateApiInput = z.strictObject({
  apiId: id,
  name: apiName.optional(),
  deleteProtection: deleteProtection.optional(),
  ipWhitelist: ipWhitelist.nullish(),
});

/**
 * Changes an API. The next verification of any of its keys, from any process, sees it.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API.
 */
export async function updateApi(
  context: OperationContext,
  input: z.input<typeof updateApiInput>,
): Promise<Record<string, never>> {
  const { apiId, ...wanted } = parseInput(updateApiInput, input);
  const isEmpty = Object.values(wanted).every((field) => field === undefined);
  await transact(context, async (transaction, audit) => {
    const want = { kind: "api", id: apiId } as const;
    const { value: api } = await readRecordIn(transaction, apiType, want, "API");
    if (isEmpty) return;
    const after: ApiRecord = {
      ...api,
      name: wanted.name ?? api.name,
      deleteProtection: wanted.deleteProtection ?? api.deleteProtection,
      ipWhitelist: wanted.ipWhitelist === undefined ? api.ipWhitelist : (wanted.ipWhitelist ?? []),
      version: versionAfter(api.version, true),
    };
    transaction.update(apiType, api, after);
    transaction.raiseRevision();
    audit({
      type: "api.updated",
      at: context.now(),
      resourceId: apiId,
      before: apiFields(api),
      after: apiFields(after),
    });
  });
  return {};
}
