import { type LatchkeyError, unmet } from "../errors.js";
import { type ApiRecord, apiType } from "../records/api.js";
import { permissionType, roleType } from "../records/grants.js";
import { identityType, newIdentity } from "../records/identity.js";
import { tagType } from "../records/key.js";
import type { RecordType, StoredRecord } from "../records/record-type.js";
import { MAX_COUNTED_TAGS, OTHER_TAG } from "../rules/keys/tags.js";
import type { Want } from "../store/key-store.js";
import { StaleReadError, type TransactionWant } from "../store/transaction.js";
import type { EpochMs } from "../time.js";
import { nameOf, type Work } from "./context.js";
import { decodeOrNull } from "./damaged.js";
import { identityWant } from "./identities/reference.js";
import { type GrantItem, type GrantKind, readGrantItem } from "./keys/grant-input.js";
import { readList } from "./read.js";

const ID_KINDS = { role: "role", permission: "perm" } as const;

/**
 * The records that an operation refers to by name or id: an API, identities, roles, permissions. The operation first registers what it
 * needs; then everything is read at once, and the commit expects that it still exists. Missing records that may be created are created
 * once, in the same transaction.
 */
export class References {
  readonly #work: Work;
  readonly #now: EpochMs;
  readonly #createsMissing: boolean;
  readonly #wants = new Map<string, Want>();
  /** Ids of records that were found or that this transaction creates, by the name of the want; null: not found. */
  readonly #ids = new Map<string, string | null>();
  readonly #apis = new Map<string, ApiRecord>();
  /** Names of roles and permissions by id, as far as they are known. */
  readonly #names = new Map<string, string>();
  #isByMemory = false;
  /** How many tags of the workspace are counted; null: all tags that are needed are counted, so the number was not read. */
  #countedTags: number | null = null;
  /** Labels of missing roles and permissions, possibly with repeats. */
  readonly #missing: Record<GrantKind, string[]> = { role: [], permission: [] };
  readonly #required: (readonly [GrantKind, readonly GrantItem[]])[] = [];
  /** Permissions that are defaults of an API. They are never created. */
  readonly #defaults = new Set<string>();

  /** `createsMissing`: whether missing roles and permissions are created. */
  constructor(work: Work, now: EpochMs, createsMissing = false) {
    this.#work = work;
    this.#now = now;
    this.#createsMissing = createsMissing;
  }

  /** An API; null if there is none. If this process found it before, nothing is read; the commit checks that it is unchanged. */
  async api(apiId: string): Promise<ApiRecord | null> {
    const { context, transaction } = this.#work;
    const { knownApis, workspaceId } = context;
    const name = `${workspaceId} ${apiId}`;
    let api = transaction.isRetry ? undefined : knownApis.get(name);
    if (api === undefined) {
      const loaded = await transaction.readOne({ kind: "api", id: apiId, expects: "nothing" });
      if (loaded === null) return null;
      api = apiType.decode(loaded.record, workspaceId);
      knownApis.set(name, api);
    } else this.#isByMemory = true;
    this.#apis.set(apiId, api);
    return api;
  }

  /** The error to throw. If it may be based on an API from memory, the transaction runs again and reads everything first. */
  confirmed(error: LatchkeyError): Error {
    return this.#isByMemory ? new StaleReadError() : error;
  }

  needApi(apiId: string): void {
    this.#need({ kind: "api", id: apiId });
  }

  needIdentity(externalId: string): void {
    this.#need(identityWant({ externalId }));
  }

  needGrants(kind: GrantKind, items: readonly GrantItem[]): void {
    for (const item of items) this.#need(grantWant(kind, item));
  }

  /** Needs what a key refers to, apart from its API. `owner`: its `externalId`. */
  needOfKey(
    owner: string | null | undefined,
    settings: {
      readonly roles?: readonly GrantItem[] | undefined;
      readonly permissions?: readonly GrantItem[] | undefined;
      readonly tags?: readonly string[] | null | undefined;
    },
  ): void {
    if (typeof owner === "string") this.needIdentity(owner);
    this.needGrants("role", settings.roles ?? []);
    this.needGrants("permission", settings.permissions ?? []);
    for (const id of settings.tags ?? []) this.#need({ kind: "tag", id });
  }

  /** Needs roles or permissions that must exist but are not granted here: none of them is created. */
  requireGrants(kind: GrantKind, items: readonly GrantItem[]): void {
    this.needGrants(kind, items);
    this.#required.push([kind, items]);
  }

  /** Marks these permissions as defaults of an API: they must exist, and errors say where they come from. */
  namedByDefault(permissions: readonly string[] = []): void {
    for (const name of permissions) this.#defaults.add(name);
  }

  /**
   * Finds the ids of all that is needed. If this process found all of it before, nothing is read: the commit checks whether it still
   * exists. Otherwise all of it is read, because an error could be based on a deleted record.
   *
   * @param isFresh - Whether to read all of it in any case, because there may be no commit to check it.
   */
  async read(isFresh: boolean = this.#work.transaction.isRetry): Promise<void> {
    const wants = [...this.#wants];
    if (!isFresh && this.#goByKnownIds(wants)) return;
    const { context, transaction } = this.#work;
    const { knownIds, workspaceId } = context;
    const found = await transaction.read(
      wants.map(([, want]): TransactionWant => {
        const isRead = "id" in want && want.kind === "api" && this.#apis.has(want.id);
        return { ...want, expects: isRead ? "version" : "exists" };
      }),
    );
    for (const loaded of found) if (loaded !== null) this.#learn(loaded.record);
    wants.forEach(([name, want], index) => {
      const id = found[index]?.record.id ?? null;
      knownIds.learn(workspaceId, want, id);
      this.#ids.set(name, id);
    });
    if (wants.some(([name, { kind }]) => kind === "tag" && this.#idOf(name) === null))
      this.#countedTags = (await readList(context, { kind: "tag", limit: 1 })).size;
  }

  #goByKnownIds(wants: readonly (readonly [string, Want])[]): boolean {
    const { context, transaction } = this.#work;
    const { knownIds, workspaceId } = context;
    const known = wants.map(([, want]) => knownIds.find(workspaceId, want));
    if (known.includes(null)) return false;
    wants.forEach(([name, { kind }], index) => {
      const id = known[index] as string;
      this.#ids.set(name, id);
      transaction.expect({ kind, id, version: this.#apis.get(id)?.version ?? "exists" });
    });
    return true;
  }

  /** @throws StaleReadError if an API has changed since it was read. */
  #learn(record: StoredRecord): void {
    const { kind, id, version } = record;
    const api = kind === "api" ? this.#apis.get(id) : undefined;
    if (api !== undefined && api.version !== version) {
      this.#work.context.knownApis.delete(`${api.workspaceId} ${id}`);
      throw new StaleReadError();
    }
    if (kind !== "permission" && kind !== "role") return;
    const type: RecordType<{ readonly name: string }> = kind === "role" ? roleType : permissionType;
    const grant = decodeOrNull(type, record, this.#work.context);
    if (grant !== null) this.#names.set(id, grant.name);
  }

  /** The name of a role or permission that was wanted by name, read, or created here; otherwise its id. */
  grantName(id: string): string {
    return this.#names.get(id) ?? id;
  }

  /** Id of the identity with this `externalId`; null if there is none. */
  knownIdentityId(externalId: string): string | null {
    return this.#idOf(nameOf(identityWant({ externalId })));
  }

  hasApi(apiId: string): boolean {
    return this.#idOf(nameOf({ kind: "api", id: apiId })) !== null;
  }

  /** Id of the identity with this `externalId`. It is created if there is none. */
  identityId(externalId: string): string {
    const name = nameOf(identityWant({ externalId }));
    return this.#idOf(name) ?? this.#createIdentity(name, externalId);
  }

  /** Ids of roles or permissions, each once. Those that do not exist are kept for {@link refuseMissing}. */
  grantIds(kind: GrantKind, items: readonly GrantItem[]): readonly string[] {
    const ids = new Set<string>();
    for (const item of items) {
      const { label, isId, mayCreate } = readGrantItem(item);
      const name = nameOf(grantWant(kind, item));
      const known = this.#idOf(name);
      if (known !== null) {
        ids.add(known);
        if (!isId) this.#names.set(known, label);
      } else if (mayCreate || (this.#createsMissing && !isId && !this.#isDefault(kind, label)))
        ids.add(this.#createGrant(kind, name, label));
      else this.#missing[kind].push(label);
    }
    return [...ids];
  }

  /** Those of these tags that have no counts of their own. New tags get counts from now on, if there are not too many. */
  uncountedTags(tags: readonly string[]): readonly string[] {
    return tags.filter(
      (tag) => this.#idOf(nameOf({ kind: "tag", id: tag })) === null && !this.#countTag(tag),
    );
  }

  /** Starts to count a tag, if there are not too many. */
  #countTag(tag: string): boolean {
    // The first tag also creates the collective tag, which counts all tags beyond the limit.
    const isFirst = this.#countedTags === 0 && tag !== OTHER_TAG;
    for (const id of isFirst ? [OTHER_TAG, tag] : [tag]) {
      if ((this.#countedTags ?? 0) > MAX_COUNTED_TAGS) return false;
      const { context, transaction } = this.#work;
      transaction.insert(tagType, { id, workspaceId: context.workspaceId });
      this.#ids.set(nameOf({ kind: "tag", id }), id);
      this.#countedTags = (this.#countedTags ?? 0) + 1;
    }
    return true;
  }

  /** @throws LatchkeyError `PRECONDITION_FAILED` that names all roles and permissions that do not exist. */
  refuseMissing(): void {
    for (const [kind, items] of this.#required)
      for (const item of items)
        if (this.#idOf(nameOf(grantWant(kind, item))) === null)
          this.#missing[kind].push(readGrantItem(item).label);
    const { role, permission } = this.#missing;
    if (role.length + permission.length > 0) throw this.#missingGrants(role, permission);
  }

  /** The same error for those of these names that do not exist; null if all exist. */
  missingAmong(roles: readonly string[], permissions: readonly string[]): LatchkeyError | null {
    const missing = [this.missing("role", roles), this.missing("permission", permissions)] as const;
    return missing.flat().length > 0 ? this.#missingGrants(...missing) : null;
  }

  /** Those of these names that do not exist. */
  missing(kind: GrantKind, names: readonly string[]): readonly string[] {
    return names.filter((name) => this.#idOf(nameOf(grantWant(kind, name))) === null);
  }

  /** The names may repeat. */
  #missingGrants(roleNames: readonly string[], permissionNames: readonly string[]): LatchkeyError {
    const [roles, permissions] = [[...new Set(roleNames)], [...new Set(permissionNames)]];
    const listed = permissions.map((name) =>
      this.#isDefault("permission", name) ? `${name} (a default of the API)` : name,
    );
    const named = [
      ...(roles.length > 0 ? [`roles ${roles.join(", ")}`] : []),
      ...(permissions.length > 0 ? [`permissions ${listed.join(", ")}`] : []),
    ];
    return unmet("missing-grants", `these do not exist: ${named.join("; ")}`, {
      missing: { roles, permissions },
    });
  }

  #isDefault(kind: GrantKind, label: string): boolean {
    return kind === "permission" && this.#defaults.has(label);
  }

  #need(want: Want): void {
    this.#wants.set(nameOf(want), want);
  }

  #idOf(name: string): string | null {
    return this.#ids.get(name) ?? null;
  }

  /** `name`: the name of the want. */
  #createIdentity(name: string, externalId: string): string {
    const { context, transaction, audit } = this.#work;
    const at = this.#now;
    const id = context.newId("id");
    const usage = { remaining: null, refilledAt: at, lastRefillAt: null };
    const identity = newIdentity(id, context.workspaceId, externalId, at);
    transaction.insert(identityType, identity, { counters: { usage } });
    audit({ type: "identity.created", at, resourceId: id, after: { externalId } });
    this.#ids.set(name, id);
    return id;
  }

  #createGrant(kind: GrantKind, wantedAs: string, name: string): string {
    const { context, transaction, audit } = this.#work;
    const { workspaceId } = context;
    const id = context.newId(ID_KINDS[kind]);
    const record = { id, workspaceId, name, description: null, createdAt: this.#now };
    if (kind === "permission") transaction.insert(permissionType, record);
    else transaction.insert(roleType, { ...record, permissions: [], version: 1 });
    this.#names.set(id, name);
    audit({ type: `${kind}.created`, at: this.#now, resourceId: id, after: { name } });
    this.#ids.set(wantedAs, id);
    return id;
  }
}

function grantWant(kind: GrantKind, item: GrantItem): Want {
  const { label, isId } = readGrantItem(item);
  return isId ? { kind, id: label } : { kind, index: "name", value: label };
}
