import { hash } from "node:crypto";
import type { Claim, RecordAddress, RecordKind } from "@latchkey/core";

/** What can be part of the name of a Redis key unchanged. latchkey's own hashes and ids always can. */
const PLAIN = /^[A-Za-z0-9_.-]{1,128}$/;

/** The same for what comes last in a name, as names of lists do. */
export const PLAIN_LAST = /^[A-Za-z0-9_.:-]{1,128}$/;

/** `evt_` and as much of an instant in base58 as changes every 3 hours. */
const AUDIT_BUCKET_WIDTH = 9;

/** Keys are many: they and their names lie in 16 parts, by the last character of an id or a name, as in record.lua. */
const PARTS = [..."0123456789abcdef"].map((part) => `:${part}`);

/** String: the number of the layout, unless it is the first. It has no hash tag, so it belongs to no workspace. */
export function layoutKey(prefix: string): string {
  return `${prefix}:layout`;
}

/** Names of the Redis keys of one workspace. All have the hash tag `{<workspaceId>}`, and so one slot. */
export class Names {
  readonly #root: string;
  /** Hash: the revision, and the counters that several records share. */
  readonly shared: string;
  /** Hash: holds by id, and the names of counters that have holds. */
  readonly holds: string;
  /** Sorted set: when each hold ends, by the counters that it is beside. */
  readonly holdEnds: string;
  /** Sorted sets: entries of the audit log by their versions; those of before there were numbers, each with the score 0. */
  readonly log: string;
  readonly unnumbered: string;
  /** Sorted set of `<day> <subject>`: which days {@link sumsOf} have. */
  readonly days: string;

  /** Patterns: of all Redis keys with the prefix, of every workspace; of those of this one; of all {@link window}s. */
  readonly anyWorkspace: string;
  readonly anyKey: string;
  readonly anyWindow: string;

  constructor(prefix: string, workspaceId: string) {
    this.#root = `${prefix}:{${plain(workspaceId)}}:`;
    this.anyWorkspace = `${prefix}:{*}:*`;
    this.anyKey = `${this.#root}*`;
    this.anyWindow = `${this.#root}p:*`;
    this.shared = `${this.#root}w`;
    this.holds = `${this.#root}h`;
    this.holdEnds = `${this.#root}e`;
    this.log = `${this.#root}n`;
    this.unnumbered = `${this.#root}u`;
    this.days = `${this.#root}d`;
  }

  /** Hash: records of a kind, by id. Those of the audit log are apart, each 3 hours of them. */
  recordsOf({ kind, id }: RecordAddress): string {
    const isEntry = kind === "auditEntry";
    const part = isEntry ? `:${plain(id.slice(0, AUDIT_BUCKET_WIDTH))}` : partOf(kind, id);
    return `${this.#root}r:${kind}${part}`;
  }

  /** Hashes: all in which a record that is known by a name can be. Entries of the audit log have none. */
  everyPartOf(kind: RecordKind): readonly string[] {
    const parts = kind === "key" ? PARTS : [""];
    return parts.map((part) => `${this.#root}r:${kind}${part}`);
  }

  /** Hash: names that are taken → ids. */
  claims({ kind, index, value }: Claim): string {
    return `${this.#root}c:${kind}:${plain(index)}${partOf(kind, value)}`;
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

  /** String: the result of a request. Expires by itself. */
  request(owner: RecordAddress | undefined, requestId: string): string {
    const beside = owner === undefined ? "" : `${owner.kind}:${plain(owner.id)}`;
    return `${this.#root}q:${beside}:${plain(requestId)}`;
  }

  /** String: how a hold ended. Expires by itself. */
  endOf(holdId: string): string {
    return `${this.#root}f:${plain(holdId)}`;
  }

  /** Hash: verifications that were counted of a subject, by day. `subject`: `<kind>:<id>` */
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
