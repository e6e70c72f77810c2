import { z } from "zod";
import { type AuditFields, changesNothing } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import { type ApiRecord, apiType } from "../../records/api.js";
import {
  ADDRESS_RANGE_ERROR,
  canonicalAddressRange,
  MAX_ADDRESS_RANGES,
} from "../../rules/address.js";
import type { Claim } from "../../store/change.js";
import { notFound, transact, type Work } from "../context.js";
import { deletedFields, deleteRecord } from "../damaged.js";
import { apiReference, flag, id, list, orRequired, pageInput, readBy, text } from "../input.js";
import { deleteAllKeys } from "../keys/delete-keys.js";
import { operation, type TableOf } from "../operation.js";
import { readAll, readPage, readRecord, readRecordIn } from "../read.js";
import type { ApiOperations, ApiView } from "./operations.js";

const addressRange = z
  .string({ error: orRequired(ADDRESS_RANGE_ERROR) })
  .max(128, { error: ADDRESS_RANGE_ERROR })
  .transform(readBy(canonicalAddressRange, ADDRESS_RANGE_ERROR));

/** Each is kept in its one form, and one that is given twice counts once. */
const ipWhitelist = list(addressRange, MAX_ADDRESS_RANGES, "addresses and ranges").transform(
  (entries) => [...new Set(entries)],
);

const name = text(3, 256);

const createApiInput = z.strictObject({
  name,
  deleteProtection: flag.optional(),
  ipWhitelist: ipWhitelist.optional(),
});

const updateApiInput = z.strictObject({
  apiId: id,
  name: name.optional(),
  deleteProtection: flag.optional(),
  ipWhitelist: ipWhitelist.nullish(),
});

export const API_TABLE = {
  createApi: operation(createApiInput, async (context, settings) => {
    const { answer: apiId } = await transact(context, async (work) => insertApi(work, settings));
    return { apiId };
  }),

  /**
   * Several APIs may have one name. What ensureApi answers claims that name beside, so that all calls agree on it.
   *
   * @see packages/core/decisions/0035-ensured-apis-claim-their-name.md
   */
  ensureApi: operation(z.strictObject({ name }), async (context, { name }) => {
    const { answer } = await transact(context, async (work) => {
      const { transaction } = work;
      const claim = ensuredClaim(name);
      const holder = await transaction.readOne(claim);
      if (holder !== null) return { apiId: holder.record.id, created: false };
      const oldest = (await readAll(context, apiType)).values.find((api) => api.name === name);
      const apiId = oldest?.id ?? insertApi(work, { name });
      if (oldest !== undefined)
        transaction.expect({ kind: "api", id: apiId, version: oldest.version });
      transaction.claim(claim, apiId);
      return { apiId, created: oldest === undefined };
    });
    return answer;
  }),

  getApi: operation(apiReference, async (context, { apiId }) => {
    const { value } = await readRecord(context, apiType, { kind: "api", id: apiId }, "API");
    return toApiView(value);
  }),

  listApis: operation(
    pageInput,
    async (context, page) => {
      const scope = { list: "apis", ownerId: context.workspaceId } as const;
      const { items, total, info } = await readPage(context, apiType, scope, page);
      return { apis: items.map(toApiView), total, ...info };
    },
    {},
  ),

  updateApi: operation(updateApiInput, async (context, { apiId, ...wanted }) => {
    await transact(context, async ({ transaction, audit }) => {
      const want = { kind: "api", id: apiId } as const;
      const { value: api } = await readRecordIn(transaction, apiType, want, "API");
      const { ipWhitelist = api.ipWhitelist } = wanted;
      const after: ApiRecord = {
        ...api,
        name: wanted.name ?? api.name,
        deleteProtection: wanted.deleteProtection ?? api.deleteProtection,
        ipWhitelist: ipWhitelist ?? [],
      };
      const [before, fields] = [apiFields(api), apiFields(after)];
      const change = { type: "api.updated", resourceId: apiId, before, after: fields } as const;
      if (changesNothing(change)) return;
      transaction.update(apiType, api, after);
      if (after.name !== api.name) transaction.release(ensuredClaim(api.name), apiId);
      transaction.renewRevision();
      audit(change);
    });
    return {};
  }),

  deleteApi: operation(apiReference, async (context, { apiId }) => {
    const { answer: isDeleted } = await transact(context, async ({ transaction, audit }) => {
      const api = await deleteRecord(transaction, apiType, apiId);
      if (api === undefined) return false;
      if (api?.deleteProtection === true)
        throw new LatchkeyError(
          "DELETE_PROTECTED",
          "this API is protected: set deleteProtection to false with updateApi first",
        );
      if (api !== null) transaction.release(ensuredClaim(api.name), apiId);
      transaction.renewRevision();
      audit({ type: "api.deleted", resourceId: apiId, ...deletedFields(api, apiFields) });
      return true;
    });
    const deletedKeys = await deleteAllKeys(context, apiId);
    if (!isDeleted && deletedKeys === 0) throw notFound("API");
    return {};
  }),
} satisfies TableOf<ApiOperations>;

/** The claim of the API that ensureApi answers for a name. It goes when the API is deleted or given another name. */
function ensuredClaim(name: string): Claim {
  return { kind: "api", index: "ensured", value: name };
}

function insertApi(
  { context, transaction, audit }: Work,
  { name, deleteProtection = false, ipWhitelist = [] }: z.output<typeof createApiInput>,
): string {
  const { workspaceId } = context;
  const [id, createdAt] = [context.newId("api"), context.now()];
  const api = { id, workspaceId, name, deleteProtection, ipWhitelist, createdAt, version: 1 };
  transaction.insert(apiType, api);
  audit({ type: "api.created", at: createdAt, resourceId: id, after: apiFields(api) });
  return id;
}

function toApiView(api: ApiRecord): ApiView {
  const { id, name, workspaceId, deleteProtection, ipWhitelist } = api;
  return {
    id,
    name,
    workspaceId,
    ...(deleteProtection && { deleteProtection }),
    ...(ipWhitelist.length > 0 && { ipWhitelist }),
  };
}

/** The settings of an API in the words of the HTTP contract, for the audit log. */
function apiFields({ name, deleteProtection, ipWhitelist }: ApiRecord): AuditFields {
  return {
    name,
    deleteProtection: deleteProtection ? true : null,
    ipWhitelist: ipWhitelist.length === 0 ? null : ipWhitelist,
  };
}
