import { hash } from "node:crypto";

/** What may stand in a key name as it is. Hashes and ids of latchkey's making always may. */
const PLAIN = /^[A-Za-z0-9_.-]{1,128}$/;

/** Base64url of SHA-256. Text of users stands in key names in this form only. */
export function digest(text: string): string {
  return hash("sha256", text, "base64url");
}

/** Names of the Redis keys of one workspace. All have the hash tag `{<workspaceId>}`, and so one slot. */
export interface WorkspaceNames {
  /** Hash: `epoch`, and once it was written or switched `enabled` and `name`. */
  readonly workspace: string;
  /** Hash: id → record with its version and its protection in front. */
  readonly apis: string;
  /** Sorted set of ids. */
  readonly apiList: string;
  /** Hash: id → version, ids of permissions and record. */
  readonly roles: string;
  /** Hash: name → id. */
  readonly roleNames: string;
  /** Hash: id → record. */
  readonly permissions: string;
  /** Hash: name → id. */
  readonly permissionNames: string;
  /** Hash: hash of the secret → record. */
  readonly rootKeys: string;
  /** Sorted set of `<id> <hash of the secret>`. */
  readonly rootKeyList: string;
  /** Hash: id → record with its version in front. */
  readonly identities: string;
  /** Hash: digest of the external id → id. */
  readonly externalIds: string;
  /** Sorted set of ids. */
  readonly identityList: string;
  /** Hash: id of an identity, or of counters that several keys share → `<uses left, or nothing>:<refilledAt>`. */
  readonly uses: string;
  /** Hash: id → hash of the secret; in front of it the id of the counters that the key shares and a space, if it does. */
  readonly keyHashes: string;
  /** Sorted set of `<apiId> <keyId>`. */
  readonly keyList: string;
  /** Sorted set of `<apiId> <identityId> <keyId>`. */
  readonly identityKeyList: string;
  /** Hash: id of a key → instant of its latest use. */
  readonly lastUsed: string;
  /** Sorted set of `<day> <kind> <id>`: which {@link verificationsName} there are. */
  readonly verificationDays: string;
  /** Hash: id of an entry of the audit log → ids of key and identity, actor and record. */
  readonly changes: string;
  /** Sorted set of `* <id>`, `k <keyId> <id>`, `i <identityId> <id>` and `a <actor> <id>`. */
  readonly changeList: string;
  /** Where `<prefix>:{<workspaceId>}:` ends: in front of the names below. */
  readonly root: string;
}

/** Makes the names, the same for every call. */
export class KeyNames {
  readonly #prefix: string;
  readonly #known = new Map<string, WorkspaceNames>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  of(workspaceId: string): WorkspaceNames {
    const known = this.#known.get(workspaceId);
    if (known !== undefined) return known;
    const names = namesIn(`${this.#prefix}:{${plain(workspaceId)}}:`);
    // Workspaces of a caller's choosing must not fill the memory of this process.
    if (this.#known.size >= 1_000) this.#known.clear();
    this.#known.set(workspaceId, names);
    return names;
  }

  /** String: the workspace of a root key. In a slot of its own, since whoever looks it up knows no workspace. */
  rootKeyPointer(hash: string): string {
    return `${this.#prefix}:{r:${plain(hash)}}`;
  }
}

/** Hash: the short fields of a key and, unless it shares them, its uses and the windows of its configured limits. */
export function recordName({ root }: WorkspaceNames, hash: string): string {
  return `${root}k:${plain(hash)}`;
}

/** Hash: those fields of a key that are too long for {@link recordName}. */
export function longFieldsName({ root }: WorkspaceNames, hash: string): string {
  return `${root}x:${plain(hash)}`;
}

/** Hash: version of an identity and the windows of its limits. */
export function identityCountersName({ root }: WorkspaceNames, identityId: string): string {
  return `${root}i:${plain(identityId)}`;
}

/** Hash: the windows of configured limits that several keys share, and how many `sharers` they have. */
export function sharedCountersName({ root }: WorkspaceNames, countersId: string): string {
  return `${root}c:${plain(countersId)}`;
}

/** String: the window of a limit that a request made up. Expires by itself. */
export function adHocWindowName(
  { root }: WorkspaceNames,
  countersId: string,
  { name, durationMs }: LimitName,
): string {
  return `${root}a:${plain(countersId)}:${durationMs}:${digest(name)}`;
}

/** String: the window of a limit that belongs to no key. Expires by itself. */
export function namespaceWindowName(
  { root }: WorkspaceNames,
  namespace: string,
  identifier: string,
  durationMs: number,
): string {
  return `${root}n:${durationMs}:${digest(JSON.stringify([namespace, identifier]))}`;
}

/**
 * Hash: verifications that were counted of a subject in one day: `<hour> <code>` → how many.
 *
 * @param member - Of {@link WorkspaceNames.verificationDays}.
 */
export function verificationsName({ root }: WorkspaceNames, member: string): string {
  return `${root}v:${member.replaceAll(" ", ":")}`;
}

/** String: what became of a request. Expires by itself. */
export function requestName({ root }: WorkspaceNames, keyId: string, requestId: string): string {
  return `${root}q:${plain(keyId)}:${plain(requestId)}`;
}

type LimitName = { readonly name: string; readonly durationMs: number };

/** Field of a record: the window of a configured limit of the key. charge.lua goes by the first letter. */
export function keyWindowField({ name, durationMs }: LimitName): string {
  return `k:${durationMs}:${name}`;
}

/** Field of an identity's counters: the window of one of its limits. charge.lua goes by the first letter. */
export function identityWindowField({ name, durationMs }: LimitName): string {
  return `i:${durationMs}:${name}`;
}

/** Text as it may stand in a key name. A `~` in front tells a digest from every text that may stand as it is. */
export function plain(text: string): string {
  return PLAIN.test(text) ? text : `~${digest(text)}`;
}

function namesIn(root: string): WorkspaceNames {
  return {
    root,
    workspace: `${root}w`,
    apis: `${root}apis`,
    apiList: `${root}api-list`,
    roles: `${root}roles`,
    roleNames: `${root}role-names`,
    permissions: `${root}permissions`,
    permissionNames: `${root}permission-names`,
    rootKeys: `${root}root-keys`,
    rootKeyList: `${root}root-key-list`,
    identities: `${root}identities`,
    externalIds: `${root}external-ids`,
    identityList: `${root}identity-list`,
    uses: `${root}uses`,
    keyHashes: `${root}key-hashes`,
    keyList: `${root}key-list`,
    identityKeyList: `${root}identity-key-list`,
    lastUsed: `${root}last-used`,
    verificationDays: `${root}verification-days`,
    changes: `${root}changes`,
    changeList: `${root}change-list`,
  };
}
