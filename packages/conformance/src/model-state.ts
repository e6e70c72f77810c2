import type {
  ApiRecord,
  ChangeRecord,
  IdentityRecord,
  KeyRecord,
  PermissionRecord,
  RateWindow,
  RememberedCharge,
  RoleRecord,
  RootKeyRecord,
  SubjectCount,
  Usage,
  WorkspaceRecord,
} from "@latchkey/core";

/** A role as the model keeps it. */
export interface ModelRole {
  record: RoleRecord;
  permissionIds: readonly string[];
}

/** An identity as the model keeps it. */
export interface ModelIdentity {
  record: IdentityRecord;
  usage: Usage;
}

/** A key as the model keeps it. Its counters are kept under an id of their own, see {@link countersOf}. */
export interface ModelKey {
  record: KeyRecord;
  roleIds: readonly string[];
  permissionIds: readonly string[];
  lastUsedAt: number | null;
}

/**
 * What a store has to hold, as simply as it can be said: lists that are searched from end to end. No index, no
 * concurrency, nothing shared with a real store. The functions of the model's other files are what it has to answer.
 *
 * Of epochs the model knows nothing: a store may raise them more often than it must. Workspaces in its answers
 * stand at epoch 0, and a charge is told the epoch at which the store stands.
 */
export class Model {
  /** Those that were written or switched. */
  readonly workspaces = new Map<string, { readonly name: string | null; enabled: boolean }>();
  apis: ApiRecord[] = [];
  rootKeys: RootKeyRecord[] = [];
  permissions: PermissionRecord[] = [];
  roles: ModelRole[] = [];
  identities: ModelIdentity[] = [];
  keys: ModelKey[] = [];
  changes: ChangeRecord[] = [];
  counts: (SubjectCount & { readonly workspaceId: string })[] = [];
  /** Counters of keys, by {@link countersOf}. */
  readonly usages = new Map<string, Usage>();
  /** Windows of keys, of identities and of limits that belong to no key, each by its own name. */
  readonly windows = new Map<string, RateWindow>();
  readonly remembered = new Map<string, RememberedCharge>();

  workspace(id: string): WorkspaceRecord {
    const { name, enabled } = this.workspaces.get(id) ?? { name: null, enabled: true };
    return { id, name, enabled, epoch: 0 };
  }

  api(workspaceId: string, apiId: string): ApiRecord | undefined {
    return this.apis.find((api) => api.id === apiId && api.workspaceId === workspaceId);
  }

  role(workspaceId: string, roleId: string): ModelRole | undefined {
    return this.roles.find(
      ({ record }) => record.id === roleId && record.workspaceId === workspaceId,
    );
  }

  identity(workspaceId: string, identityId: string | null): ModelIdentity | undefined {
    return this.identities.find(
      ({ record }) => record.id === identityId && record.workspaceId === workspaceId,
    );
  }

  /** A key that can be found: one that was not deleted, of an API that was not. */
  key(workspaceId: string, keyId: string): ModelKey | undefined {
    return this.keys.find(
      ({ record }) =>
        record.id === keyId && record.workspaceId === workspaceId && this.hasApi(record),
    );
  }

  /** Whether the API of a key was not deleted. */
  hasApi({ workspaceId, apiId }: KeyRecord): boolean {
    return this.api(workspaceId, apiId) !== undefined;
  }

  /** The counter of uses that a key has to itself or shares. */
  usage(key: KeyRecord): Usage {
    return this.usages.get(countersOf(key)) as Usage;
  }
}

/** The id that the counters of a key are kept under. */
export function countersOf({ id, countersId }: KeyRecord): string {
  return countersId ?? id;
}

/** The fields of a patch that are not undefined. */
export function given<Patch extends object>(
  patch: Patch,
): { [Field in keyof Patch]: Exclude<Patch[Field], undefined> } {
  const fields = Object.entries(patch).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as { [Field in keyof Patch]: Exclude<Patch[Field], undefined> };
}

/** Forgets the windows of an owner that belong to none of its limits, but those that requests made up. */
export function keepWindows(
  { windows }: Model,
  ownerId: string,
  limits: readonly { readonly name: string; readonly durationMs: number }[],
): void {
  for (const name of windows.keys()) {
    const [owner, isConfigured, limitName, durationMs] = JSON.parse(name);
    const isKept = limits.some(
      (limit) => limit.name === limitName && limit.durationMs === durationMs,
    );
    if (owner === ownerId && isConfigured === true && !isKept) windows.delete(name);
  }
}
