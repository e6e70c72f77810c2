import { hash } from "node:crypto";
import type { Claim, RecordAddress } from "@latchkey/core";

/** What may stand in the name of a Redis key as it is. Hashes and ids of latchkey's making always may. */
const PLAIN = /^[A-Za-z0-9_.-]{1,128}$/;

/** The same for what comes last in a name, as names of lists do. */
const PLAIN_LAST = /^[A-Za-z0-9_.:-]{1,128}$/;

/** `evt_` and as much of an instant in base58 as changes every 3 hours. */
const AUDIT_BUCKET_WIDTH = 9;

/**
 * Names of the Redis keys of one workspace. All have the hash tag `{<workspaceId>}`, and so one slot.
 *
 * A key is addressed by the first name that it claimed when it was created, the hash of its secret, so that a verification
 * finds it in one step. Records of every other kind lie in one hash a kind.
 */
export class WorkspaceNames {
  readonly #root: string;
  /** String: the revision. */
  readonly revision: string;
  /** Hash: for each key its id → address. */
  readonly addresses: string;
  /** Hash: identities. */
  readonly identities: string;
  /** Sorted set of `<day> <kind> <id>`: which {@link countsOf} there are. */
  readonly days: string;

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
    const bucket = kind === "auditEntry" ? `:${plain(id.slice(0, AUDIT_BUCKET_WIDTH))}` : "";
    return `${this.#root}r:${kind}${bucket}`;
  }

  /** Where a claim is: for a key the record at the address that it gives; for all a hash of values → ids. */
  claimed(claim: Claim): readonly string[] {
    const claims = `${this.#root}c:${claim.kind}:${plain(claim.index)}`;
    return claim.kind === "key" ? [this.keyAt(addressByClaim(claim)), claims] : [claims];
  }

  /**
   * Sorted set: the ids of a list. For a small list, and others whose name has the same digits in front, so that none costs a
   * Redis key of its own: a tag, a space and the id.
   */
  list(name: string, of?: string) {
    const last = plain(name, PLAIN_LAST);
    if (of === undefined) return { list: `${this.#root}l:${last}`, start: "" };
    const digits = digest(of);
    const list = `${this.#root}o:${digits.slice(0, 2)}:${last}`;
    return { list, start: `${digits.slice(2, 24)} ` };
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

/** The address that a key has from a claim of its: no other has a colon. */
export function addressByClaim({ index, value }: Pick<Claim, "index" | "value">): string {
  return `${plain(index)}:${plain(value)}`;
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
export function plain(text: string, allowed = PLAIN): string {
  return allowed.test(text) ? text : `~${digest(text)}`;
}

function digest(text: string): string {
  return hash("sha256", text, "base64url");
}
