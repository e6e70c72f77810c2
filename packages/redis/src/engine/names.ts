import { hash } from "node:crypto";
import type { Claim, RecordAddress, RecordKind } from "@latchkey/core";

/** Text that can be part of a Redis key name unchanged. latchkey's own hashes and ids always can. */
const PLAIN = /^[A-Za-z0-9_.-]{1,128}$/;

/** The same for the last part of a name, such as the name of a list. */
export const PLAIN_LAST = /^[A-Za-z0-9_.:-]{1,128}$/;

/** `evt_` and the first base58 digits of an instant, which change every 3 hours. */
const AUDIT_BUCKET_WIDTH = 9;

/**
 * There are many keys: they are spread over 16 hashes, and so are their claims, by the last character of the id or the claimed value, as
 * in record.lua.
 */
const PARTS = [..."0123456789abcdef"].map((part) => `:${part}`);

/** String: the number of the layout; absent for the first one. It has no hash tag, since it belongs to no workspace. */
export function layoutKey(prefix: string): string {
  return `${prefix}:layout`;
}

/** Names of the Redis keys of one workspace. All have the hash tag `{<workspaceId>}`, and so share one slot. */
export class Names {
  readonly #root: string;
  /** Hash: the revision, and the counters that several records share. */
  readonly shared: string;
  /** Hash: holds by id, and the places of counters that have holds. */
  readonly holds: string;
  /** Sorted set: the end of each hold, for each of the counters that it is beside. */
  readonly holdEnds: string;
  /** Sorted sets: entries of the audit log by version; and those from before there were numbers, each with the score 0. */
  readonly log: string;
  readonly unnumbered: string;
  /** Sorted set of `<day> <subject>`: the days on which {@link sumsOf} has sums. */
  readonly days: string;

  /**
   * Patterns: all Redis keys with the prefix, of any workspace; all {@link window}s, of any workspace; all Redis keys of this workspace; all
   * its windows.
   */
  readonly anyWorkspace: string;
  readonly anyWindowOfAll: string;
  readonly anyKey: string;
  readonly anyWindow: string;

  constructor(prefix: string, workspaceId: string) {
    this.#root = `${prefix}:{${plain(workspaceId)}}:`;
    this.anyWorkspace = `${prefix}:{*}:*`;
    this.anyWindowOfAll = `${prefix}:{*}:p:*`;
    this.anyKey = `${this.#root}*`;
    this.anyWindow = `${this.#root}p:*`;
    this.shared = `${this.#root}w`;
    this.holds = `${this.#root}h`;
    this.holdEnds = `${this.#root}e`;
    this.log = `${this.#root}n`;
    this.unnumbered = `${this.#root}u`;
    this.days = `${this.#root}d`;
  }

  /** Hash: records of a kind, by id. Entries of the audit log have one hash for each 3 hours. */
  recordsOf({ kind, id }: RecordAddress): string {
    const isEntry = kind === "auditEntry";
    const part = isEntry ? `:${plain(id.slice(0, AUDIT_BUCKET_WIDTH))}` : partOf(kind, id);
    return `${this.#root}r:${kind}${part}`;
  }

  /** Hashes: all that can have a record which is found by a claim. Entries of the audit log have no claims. */
  everyPartOf(kind: RecordKind): readonly string[] {
    const parts = kind === "key" ? PARTS : [""];
    return parts.map((part) => `${this.#root}r:${kind}${part}`);
  }

  /** Hash: claimed values → ids. */
  claims({ kind, index, value }: Claim): string {
    return `${this.#root}c:${kind}:${plain(index)}${partOf(kind, value)}`;
  }

  /**
   * Sorted set: the ids of a list. Small lists of one name share sorted sets, by the first digits of a digest of `of`, so that none needs
   * a Redis key of its own. A member is then a tag, a space and the id.
   */
  list(name: string, of?: string) {
    const last = plain(name, PLAIN_LAST);
    if (of === undefined) return { list: `${this.#root}l:${last}`, start: "" };
    const digits = digest(of);
    const list = `${this.#root}o:${digits.slice(0, 2)}:${last}`;
    return { list, start: `${digits.slice(2, 24)} ` };
  }

  /** String: a window without an owner. Expires by itself. */
  window(name: string): string {
    return `${this.#root}p:${plain(name)}`;
  }

  /** String: the remembered result of a request. Expires by itself. */
  request(owner: RecordAddress | undefined, requestId: string): string {
    const beside = owner === undefined ? "" : `${owner.kind}:${plain(owner.id)}`;
    return `${this.#root}q:${beside}:${plain(requestId)}`;
  }

  /** String: how a hold ended. Expires by itself. */
  endOf(holdId: string): string {
    return `${this.#root}f:${plain(holdId)}`;
  }

  /** Hash: counted verifications of a subject, by day. `subject`: `<kind>:<id>` */
  sumsOf(subject: string): string {
    return `${this.#root}v:${subject}`;
  }
}

/** Text as part of a name. A leading `~` marks a digest. */
export function plain(text: string, allowed = PLAIN): string {
  return allowed.test(text) ? text : `~${digest(text)}`;
}

function partOf(kind: RecordKind, text: string): string {
  return kind === "key" ? `${PARTS[(text.charCodeAt(text.length - 1) || 0) % PARTS.length]}` : "";
}

function digest(text: string): string {
  return hash("sha256", text, "base64url");
}
