import { hash } from "node:crypto";
import type { Claim, RecordAddress } from "@latchkey/core";

/** What may stand in the name of a Redis key as it is. Hashes and ids of latchkey's making always may. */
const PLAIN = /^[A-Za-z0-9_.-]{1,128}$/;

/** Characters of the digest of a small list that choose its bucket (64 to the power of it), and that tell it apart within. */
const BUCKET_WIDTH = 2;
const TAG_WIDTH = 22;

/** `evt_` and as much of an instant in base58 as changes every 3 hours. */
const AUDIT_BUCKET_WIDTH = 9;

/**
 * Names of the Redis keys of one workspace. All have the hash tag `{<workspaceId>}`, and so one slot.
 *
 * A key is addressed by the first name that it claimed when it was created, the hash of its secret, so that a verification
 * finds it in one step. Records of every other kind lie in one hash a kind.
 */
export class WorkspaceNames {
  /** String: the revision. */
  readonly revision: string;
  /** Hash: for each key its id → address. */
  readonly addresses: string;
  /** Hash: identities. */
  readonly identities: string;
  /** Sorted set of `<day> <kind> <id>`: which {@link countsOf} there are. */
  readonly days: string;
  readonly #root: string;

  /** @param root - `<prefix>:{<workspaceId>}:` */
  constructor(root: string) {
    this.#root = root;
    this.revision = `${root}w`;
    this.addresses = `${root}r:key`;
    this.identities = `${root}r:identity`;
    this.days = `${root}d`;
  }

  /** Hash: one key. */
  keyAt(address: string): string {
    return `${this.#root}k:${address}`;
  }

  /** Hash: the records of a kind, by id; those of the audit log in buckets, each of the entries of 3 hours. */
  recordsOf({ kind, id }: RecordAddress): string {
    if (kind !== "auditEntry") return `${this.#root}r:${kind}`;
    return `${this.#root}r:${kind}:${plain(id.slice(0, AUDIT_BUCKET_WIDTH))}`;
  }

  /** Hash: value of a claim → id; of keys only what they claimed beside their address. */
  claimsOf({ kind, index }: Pick<Claim, "kind" | "index">): string {
    return `${this.#root}c:${kind}:${plain(index)}`;
  }

  /** Where a claim is: for a key the record at the address that it gives, and for all the hash of claims. */
  claimed(claim: Claim): readonly string[] {
    const claims = this.claimsOf(claim);
    return claim.kind === "key" ? [this.keyAt(addressByClaim(claim)), claims] : [claims];
  }

  /** Sorted set: the ids of a list. */
  list(name: string): string {
    return `${this.#root}l:${plain(name)}`;
  }

  /** Sorted set of `<tag> <id>`: some of the small lists of a name, which share it so that none costs a Redis key of its own. */
  smallList(name: string, of: string): { readonly bucket: string; readonly tag: string } {
    const text = digest(of);
    const bucket = `${this.#root}o:${text.slice(0, BUCKET_WIDTH)}:${plain(name)}`;
    return { bucket, tag: text.slice(BUCKET_WIDTH, BUCKET_WIDTH + TAG_WIDTH) };
  }

  /** String: a window that belongs to no record. Expires by itself. */
  window(name: string): string {
    return `${this.#root}p:${plain(name)}`;
  }

  /** String: what became of a request. Expires by itself. */
  request(owner: RecordAddress | undefined, requestId: string): string {
    const beside = owner === undefined ? "" : `${owner.kind}:${plain(owner.id)}`;
    return `${this.#root}q:${beside}:${plain(requestId)}`;
  }

  /** Hash: verifications that were counted of a subject in one day: `<hour> <code>` → how many. */
  countsOf(member: string): string {
    return `${this.#root}v:${member.replaceAll(" ", ":")}`;
  }
}

/** Makes the names of workspaces, the same for every call. */
export class Names {
  readonly #prefix: string;
  readonly #known = new Map<string, WorkspaceNames>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  of(workspaceId: string): WorkspaceNames {
    const known = this.#known.get(workspaceId);
    if (known !== undefined) return known;
    const names = new WorkspaceNames(`${this.#prefix}:{${plain(workspaceId)}}:`);
    // Workspaces of a caller's choosing must not fill the memory of this process.
    if (this.#known.size >= 1_000) this.#known.clear();
    this.#known.set(workspaceId, names);
    return names;
  }
}

/** The address that a key has from a claim of its. No id has a colon in its place. */
export function addressByClaim({ index, value }: Pick<Claim, "index" | "value">): string {
  return `${plain(index)}:${plain(value)}`;
}

/** The address of a key that had claimed nothing when it was created. */
export function addressById(id: string): string {
  return plain(id);
}

/** `<address>`, and after a space the id of the counters that the key shares with others. */
export function handleOf(address: string, shared: string): string {
  return shared === "" ? address : `${address} ${shared}`;
}

/** The address in a handle, which may be anybody's. */
export function addressOfHandle(handle: string): string {
  return handle.split(" ", 1)[0] ?? "";
}

/** Text as it may stand in a name. A `~` in front tells a digest from every text that may stand as it is. */
export function plain(text: string): string {
  return PLAIN.test(text) ? text : `~${digest(text)}`;
}

function digest(text: string): string {
  return hash("sha256", text, "base64url");
}
