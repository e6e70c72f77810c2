import {
  type Change,
  type Claim,
  type CommitResult,
  type CounterChange,
  corruptRecord,
  type ListEntry,
  type Put,
  type RecordAddress,
  type Usage,
  type UsageChange,
  type UsageRefusal,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { unavailable, unexpected } from "./engine/errors.js";
import {
  addressByClaim,
  addressById,
  addressOfHandle,
  type Names,
  type WorkspaceNames,
} from "./engine/names.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, digits, orDash, parseUsage, usageText, whole } from "./engine/stored-values.js";
import type { Reading } from "./read.js";

/** How often a change is asked for again with other addresses. Nothing is written before these are right. */
const MOST_STEPS = 10;

/** What the script says that does not end a commit. */
type Reply =
  | CommitResult
  | { readonly kind: "moved" }
  | { readonly kind: "occupied"; readonly id: string };

/** Carries out changes: one script, all or nothing. */
export class Committing {
  readonly #connection: Connection;
  readonly #names: Names;
  readonly #reading: Reading;

  constructor(connection: Connection, names: Names, reading: Reading) {
    this.#connection = connection;
    this.#names = names;
    this.#reading = reading;
  }

  /** One round trip; two where a change speaks of a key without its handle. */
  async commit(workspaceId: string, change: Change): Promise<CommitResult> {
    const names = this.#names.of(workspaceId);
    const script = isGrowth(change) ? SCRIPTS.commit : SCRIPTS.commitFreeing;
    const ids = keysOf(change);
    const addresses = handlesOf(change);
    const occupied = new Set<string>();
    let sought: readonly string[] = ids.filter(
      (id) => !addresses.has(id) && !isExpectedAbsent(change, id),
    );
    for (let step = 0; step < MOST_STEPS; step += 1) {
      if (sought.length > 0) {
        const found = await this.#reading.locate(workspaceId, sought);
        for (const id of sought) addresses.delete(id);
        for (const [id, address] of found) addresses.set(id, address);
      }
      const made = new Map<string, string>();
      for (const id of ids) {
        if (addresses.has(id)) continue;
        made.set(id, occupied.has(id) ? addressById(id) : newAddress(change, id));
      }
      const { keys, args } = new Arguments(names, addresses, made, change);
      const reply = await this.#connection.run(script, keys, args, readReply);
      if (reply.kind === "occupied") occupied.add(reply.id);
      else if (reply.kind !== "moved") return reply;
      sought = ids;
    }
    throw unavailable("the keys of a change were found at one address after the other");
  }
}

/** A change in the letters of commit.lua. */
class Arguments {
  readonly keys: string[];
  readonly args: string[] = [""];
  readonly #names: WorkspaceNames;
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #newAddresses: ReadonlyMap<string, string>;
  readonly #numbers = new Map<string, number>();
  #letters = "";
  #count = 0;

  constructor(
    names: WorkspaceNames,
    addresses: ReadonlyMap<string, string>,
    newAddresses: ReadonlyMap<string, string>,
    change: Change,
  ) {
    this.#names = names;
    this.#addresses = addresses;
    this.#newAddresses = newAddresses;
    this.keys = [names.revision, names.addresses];
    for (const { version, ...address } of change.expects) {
      this.#addRecord(address);
      this.#add("e", [], version === null ? "-" : version === "exists" ? "*" : digits(version));
    }
    for (const { id, ...claim } of change.releases) {
      this.#add(claim.kind === "key" ? "L" : "l", this.#namesOf(claim), claim.value, id);
    }
    for (const claim of change.claims) this.#addClaim(claim);
    for (const counters of change.counters) this.#addCounters(counters);
    for (const put of change.puts) this.#addPut(put);
    for (const address of change.deletes) this.#add("d", [], this.#numberOf(address));
    for (const entry of change.leaves) this.#addEntry("x", entry);
    for (const entry of change.enters) this.#addEntry("z", entry);
    for (const window of change.dropWindows) this.#add("w", [names.window(window)]);
    if (change.raisesRevision) this.#add("v", []);
    this.args[0] = this.#letters;
  }

  #add(letter: string, keys: readonly string[], ...args: readonly string[]): void {
    this.#letters += letter;
    this.keys.push(...keys);
    this.args.push(...args);
  }

  #addRecord(record: RecordAddress): void {
    const { kind, id } = record;
    if (kind === "key") {
      const known = this.#addresses.get(id);
      const address = known ?? this.#newAddresses.get(id) ?? "";
      this.#add(known === undefined ? "K" : "k", [this.#names.keyAt(address)], id, address);
    } else {
      this.#add("r", [this.#names.recordsOf(record)], id);
    }
    this.#count += 1;
    const name = `${kind} ${id}`;
    if (!this.#numbers.has(name)) this.#numbers.set(name, this.#count);
  }

  /** The number that the script knows a record by. */
  #numberOf(record: RecordAddress): string {
    const name = `${record.kind} ${record.id}`;
    if (!this.#numbers.has(name)) this.#addRecord(record);
    return String(this.#numbers.get(name));
  }

  /** Where a name is claimed. */
  #namesOf(claim: Claim): readonly string[] {
    const claims = this.#names.claimsOf(claim);
    return claim.kind === "key" ? [this.#names.keyAt(addressByClaim(claim)), claims] : [claims];
  }

  #addClaim({ id, ...claim }: Claim & { readonly id: string }): void {
    const { kind, value } = claim;
    const names = this.#namesOf(claim);
    if (kind === "key") this.#add("C", names, value, this.#numberOf({ kind, id }));
    else this.#add("c", [...names, this.#names.recordsOf({ kind, id })], value, id);
  }

  #addCounters(change: CounterChange): void {
    const { usage, keepWindows, dropWindows } = change;
    const args = [
      this.#numberOf(change),
      usage === undefined ? "-" : changeText(usage),
      keepWindows === undefined ? "*" : ` ${keepWindows.join(" ")} `,
      dropWindows === undefined ? "-" : ` ${dropWindows.join(" ")} `,
    ];
    this.#add("u", [], ...args);
  }

  #addPut({ record, counters }: Put): void {
    const { kind, version, link, body } = record;
    const args = [
      this.#numberOf(record),
      link === null ? digits(version) : `${digits(version)} ${link}`,
      body === undefined ? "" : JSON.stringify(body),
    ];
    if (counters === undefined) this.#add("p", [], ...args);
    else if ("usage" in counters) this.#add("n", [], ...args, usageText(counters.usage));
    else this.#add("s", [], ...args, this.#numberOf({ kind, id: counters.sharedWith }));
  }

  #addEntry(letter: "x" | "z", { list, of, id }: ListEntry): void {
    if (of === undefined) {
      this.#add(letter, [this.#names.list(list)], id);
    } else {
      const { bucket, tag } = this.#names.smallList(list, of);
      this.#add(letter, [bucket], `${tag} ${id}`);
    }
  }
}

/** In the words of change-usage.lua. */
function changeText({ operation, due, restartsAt }: UsageChange): string {
  const number =
    operation.kind === "set"
      ? operation.remaining
      : operation.kind === "keep"
        ? null
        : operation.by;
  const refill = due === null ? "- -" : `${digits(due.amount)} ${digits(due.dueAt)}`;
  return `${operation.kind} ${orDash(number)} ${refill} ${orDash(restartsAt)}`;
}

/** All keys that a change speaks of, each once. */
function keysOf({ expects, puts, deletes, counters, claims }: Change): readonly string[] {
  const records: RecordAddress[] = [...expects, ...deletes, ...counters, ...claims];
  for (const put of puts) {
    records.push(put.record);
    const shared = put.counters !== undefined && "sharedWith" in put.counters;
    if (shared) records.push({ kind: put.record.kind, id: put.counters.sharedWith });
  }
  return [...new Set(records.flatMap(({ kind, id }) => (kind === "key" ? [id] : [])))];
}

function handlesOf({ expects }: Change): Map<string, string> {
  const addresses = new Map<string, string>();
  for (const { kind, id, handle } of expects) {
    if (kind === "key" && typeof handle === "string") addresses.set(id, addressOfHandle(handle));
  }
  return addresses;
}

function isExpectedAbsent({ expects }: Change, keyId: string): boolean {
  return expects.some(
    ({ kind, id, version }) => kind === "key" && id === keyId && version === null,
  );
}

/** A new key has the address of its first claim, so that it is found by that at once. */
function newAddress({ claims }: Change, keyId: string): string {
  const claim = claims.find(({ kind, id }) => kind === "key" && id === keyId);
  return claim === undefined ? addressById(keyId) : addressByClaim(claim);
}

/** Whether a server without memory may refuse it. Whatever takes access away makes nothing new. */
function isGrowth({ claims, expects }: Change): boolean {
  const made = expects.filter(({ version }) => version === null);
  return claims.length > 0 || made.some(({ kind }) => kind !== "workspace");
}

function readReply(answer: unknown): Reply {
  const [status, ...rest] = asList(answer, "change");
  const index = () => whole(rest[0], "change");
  switch (status) {
    case "OK":
      return { kind: "committed", usages: rest.map(readUsage) };
    case "STALE":
      return { kind: "stale", index: index() };
    case "TAKEN":
      return { kind: "taken", index: index() };
    case "REFUSED":
      return { kind: "refused", index: index(), reason: readRefusal(rest[1], rest[2]) };
    case "MOVED":
      return { kind: "moved" };
    case "OCCUPIED":
      return { kind: "occupied", id: String(rest[0]) };
    case "CORRUPT":
      throw corruptRecord("counters");
    default:
      throw unexpected();
  }
}

function readUsage(text: unknown): Usage {
  return parseUsage(String(text).split(" "), "counters");
}

function readRefusal(kind: unknown, left: unknown): UsageRefusal {
  if (kind === "unlimited") return { kind };
  if (kind === "insufficient" || kind === "overflow")
    return { kind, remaining: whole(left, "counters") };
  throw unexpected();
}
