import { z } from "zod";
import { type AuditFields, changesNothing } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import { withoutNull } from "../../lib/without-null.js";
import { type ApiRecord, apiType } from "../../records/api.js";
import { unlessEmpty } from "../../records/record-type.js";
import type { Duration } from "../../rules/duration.js";
import type { ApiCeilings } from "../../rules/keys/ceilings.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import { afterWriting } from "../../store/after-writing.js";
import type { Claim } from "../../store/change.js";
import type { SpanMs } from "../../time.js";
import { inSteps, notFound, transact, type Work } from "../context.js";
import { deletedFields, deleteRecord } from "../damaged.js";
import {
  type ApiReference,
  apiReference,
  flag,
  id,
  ipWhitelist,
  nullable,
  optional,
  type PageInput,
  text,
} from "../input.js";
import { actOnEveryKey, DELETION } from "../many-keys/many-keys.js";
import { operation, type TableOf, write } from "../operation.js";
import { type PageInfo, pagesOf, readAll, readRecord, readRecordIn } from "../read.js";
import {
  type ApiDefaults,
  apiCeilings,
  apiDefaults,
  refuseDefaultsAbove,
  storedRules,
} from "./key-rules.js";

/** An API that was created. */
export interface CreatedApi {
  /** `api_…` */
  readonly apiId: string;
}

/** An existing or new API. */
export interface EnsuredApi extends CreatedApi {
  /** Whether this call created it. */
  readonly created: boolean;
}

/** An API. Fields without a value are absent. */
export interface ApiView<Types extends LatchkeyTypes = DefaultTypes> {
  /** `api_…` */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** Id of the workspace. */
  readonly workspaceId: string;
  /** Present if it is protected from deletion. */
  readonly deleteProtection?: true;
  /** Addresses and CIDR ranges that its keys may be used from, normalised; absent: any. */
  readonly ipWhitelist?: readonly string[];
  /** Defaults for new keys; durations in ms. */
  readonly defaults?: ApiDefaults<SpanMs, Types>;
  /** The most that keys can be given; durations in ms. */
  readonly ceilings?: ApiCeilings<SpanMs, Types>;
}

/** A page of APIs. */
export interface ApiList<Types extends LatchkeyTypes = DefaultTypes> extends PageInfo {
  /** In the order of their creation. */
  readonly apis: readonly ApiView<Types>[];
  /** Exact number of APIs of the workspace. */
  readonly total: number;
}

/** Operations on APIs: the key spaces of a workspace. */
export interface ApiOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Creates an API: a group of keys.
   *
   * @throws LatchkeyError `BAD_REQUEST`; `PRECONDITION_FAILED` for a default above its ceiling.
   * @example
   * const { apiId } = await latchkey.createApi({ name: "payments" });
   */
  createApi(input: {
    /** Its name: 3 to 256 characters. */
    readonly name: string;
    /** Whether it is protected from deletion. Default: false. */
    readonly deleteProtection?: boolean | undefined;
    /** Addresses and CIDR ranges that its keys may be used from, at most 1,000. Default: any. */
    readonly ipWhitelist?: readonly string[] | undefined;
    /** Defaults for new keys. */
    readonly defaults?: ApiDefaults<Duration, Types> | undefined;
    /** The most that keys can be given. */
    readonly ceilings?: ApiCeilings<Duration, Types> | undefined;
  }): Promise<CreatedApi>;
  /**
   * Returns the API with this name, or creates it if there is none, so that you can run set-up again. If several APIs have the name, it
   * returns the oldest, and in every process the same one until that is deleted or renamed. Parallel calls create one API, and all return
   * it.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { apiId } = await latchkey.ensureApi({ name: "payments" });
   */
  ensureApi(input: {
    /** Its name: 3 to 256 characters. */
    readonly name: string;
  }): Promise<EnsuredApi>;
  /**
   * Reads an API.
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * const { name } = await latchkey.getApi({ apiId });
   */
  getApi(input: ApiReference): Promise<ApiView<Types>>;
  /**
   * Lists the APIs of the workspace, a page at a time; `apis()` iterates over all of them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for an invalid cursor.
   * @example
   * const { apis, total, cursor } = await latchkey.listApis({ limit: 20 });
   */
  listApis(input?: PageInput): Promise<ApiList<Types>>;
  /**
   * Changes an API. The next verification of any of its keys, from any process, sees it.
   *
   * @param input - Omitted fields stay.
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` for a default above its ceiling.
   * @example
   * await latchkey.updateApi({ apiId, ipWhitelist: ["192.0.2.0/24"] });
   */
  updateApi(
    input: ApiReference & {
      /** Its name: 3 to 256 characters. */
      readonly name?: string | undefined;
      /** Whether it is protected from deletion. */
      readonly deleteProtection?: boolean | undefined;
      /** All addresses and CIDR ranges, at most 1,000. An empty list or null: any. */
      readonly ipWhitelist?: readonly string[] | null | undefined;
      /** All defaults for new keys; null: none. */
      readonly defaults?: ApiDefaults<Duration, Types> | null | undefined;
      /** All ceilings; null: none. Existing keys keep what is above one until a call changes that setting, except permissions of roles. */
      readonly ceilings?: ApiCeilings<Duration, Types> | null | undefined;
    },
  ): Promise<Record<string, never>>;
  /**
   * Deletes an API. All its keys stop verifying with the first, short step; they are then deleted in bounded steps, and the call resolves
   * when all are gone. If it fails on the way, no remaining key verifies: call it again to delete them. A damaged API is deleted too.
   *
   * @throws LatchkeyError `NOT_FOUND`, `DELETE_PROTECTED`; nothing is deleted then.
   * @example
   * await latchkey.deleteApi({ apiId });
   */
  deleteApi(input: ApiReference): Promise<Record<string, never>>;
}

const name = text(3, 256);

const rules = { ipWhitelist, defaults: apiDefaults, ceilings: apiCeilings };

const createApiInput = z.strictObject({
  name,
  ...optional({ deleteProtection: flag, ...rules }),
});

const updateApiInput = z.strictObject({
  apiId: id,
  ...optional({ name, deleteProtection: flag, ...nullable(rules) }),
});

export const API_TABLE = {
  createApi: write(createApiInput, async (work, settings) => ({
    apiId: insertApi(work, settings),
  })),

  /** If several APIs share a name, one claims it. @see packages/core/decisions/0035-ensured-apis-claim-their-name.md */
  ensureApi: write(z.strictObject({ name }), async (work, { name }) => {
    const { context, transaction } = work;
    const claim = ensuredClaim(name);
    const holder = await transaction.readOne(claim);
    if (holder !== null) return { apiId: holder.record.id, created: false };
    const oldest = (await readAll(context, apiType)).values.find((api) => api.name === name);
    const apiId = oldest?.id ?? insertApi(work, { name });
    if (oldest !== undefined)
      transaction.expect({ kind: "api", id: apiId, version: oldest.version });
    transaction.claim(claim, apiId);
    return { apiId, created: oldest === undefined };
  }),

  getApi: operation(apiReference, async (context, { apiId }) => {
    const { value } = await readRecord(context, apiType, apiId);
    return toApiView(value);
  }),

  listApis: pagesOf(apiType, "apis", (apis) => ({ apis: apis.map(toApiView) })),

  updateApi: write(updateApiInput, async ({ transaction, audit }, { apiId, ...wanted }) => {
    const { value: api } = await readRecordIn(transaction, apiType, apiId);
    const { ipWhitelist = api.ipWhitelist } = wanted;
    const after: ApiRecord = {
      ...api,
      name: wanted.name ?? api.name,
      deleteProtection: wanted.deleteProtection ?? api.deleteProtection,
      ipWhitelist: ipWhitelist ?? [],
      defaults: wanted.defaults === undefined ? api.defaults : storedRules(wanted.defaults),
      ceilings: wanted.ceilings === undefined ? api.ceilings : storedRules(wanted.ceilings),
    };
    if (wanted.defaults !== undefined || wanted.ceilings !== undefined) refuseDefaultsAbove(after);
    const [before, fields] = [apiFields(api), apiFields(after)];
    const change = { type: "api.updated", resourceId: apiId, before, after: fields } as const;
    if (changesNothing(change)) return {};
    transaction.update(apiType, api, after);
    if (after.name !== api.name) transaction.release(ensuredClaim(api.name), apiId);
    transaction.renewRevision();
    audit(change);
    return {};
  }),

  deleteApi: operation(apiReference, async (context, { apiId }) => {
    const isDeleted = await transact(inSteps(context), async ({ transaction, audit }) => {
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
    const deletion = () => actOnEveryKey(context, { apiId }, DELETION);
    const deletedKeys = await afterWriting(deletion, isDeleted);
    if (!isDeleted && deletedKeys === 0) throw notFound("api");
    return {};
  }),
} satisfies TableOf<ApiOperations>;

/** The claim of the API that ensureApi returns for a name. It is released when the API is deleted or renamed. */
function ensuredClaim(name: string): Claim {
  return { kind: "api", index: "ensured", value: name };
}

function insertApi(
  { context, transaction, audit }: Work,
  settings: z.output<typeof createApiInput>,
): string {
  const { workspaceId } = context;
  const { name, deleteProtection = false, ipWhitelist = [], defaults, ceilings } = settings;
  const [id, createdAt] = [context.newId("api"), context.now()];
  const api: ApiRecord = {
    id,
    workspaceId,
    name,
    deleteProtection,
    ipWhitelist,
    defaults: storedRules(defaults),
    ceilings: storedRules(ceilings),
    createdAt,
    version: 1,
  };
  refuseDefaultsAbove(api);
  transaction.insert(apiType, api);
  audit({ type: "api.created", at: createdAt, resourceId: id, after: apiFields(api) });
  return id;
}

function toApiView(api: ApiRecord): ApiView {
  const { id, name, workspaceId } = api;
  return withoutNull({ id, name, workspaceId, ...apiFields(api) }) as ApiView;
}

/** The settings of an API in the words of the HTTP contract. */
function apiFields(api: ApiRecord): AuditFields {
  const { name, deleteProtection, ipWhitelist, defaults, ceilings } = api;
  return {
    name,
    deleteProtection: deleteProtection || null,
    ipWhitelist: unlessEmpty(ipWhitelist),
    defaults,
    ceilings,
  };
}
