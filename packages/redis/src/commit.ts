import {
  type Change,
  type Claim,
  type CommitResult,
  type CounterChange,
  corruptRecord,
  type Expectation,
  type ListEntry,
  type Put,
  type RecordAddress,
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
import { joinRows, type Row } from "./engine/rows.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, digits, orDash, parseUsage, usageText, whole } from "./engine/stored-values.js";
import type { Reading } from "./read.js";

/** How often a change is asked for again with other addresses. Nothing is written before these are right. */
const MOST_STEPS = 10;

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
    let addresses: ReadonlyMap<string, string> = guessedAddresses(change);
    let sought: readonly string[] = ids.filter(
      (id) => !addresses.has(id) && !isExpectedAbsent(change, id),
    );
    for (let step = 0; step < MOST_STEPS; step += 1) {
      if (sought.length > 0) {
        const found = await this.#reading.locate(workspaceId, sought);
        addresses = new Map([...(step === 0 ? addresses : []), ...found]);
      }
      // Where a record still is at the address of a claim that it gave up, a new one gets an address of its own.
      const newAddress = (id: string) => (step < 2 ? claimedAddress(change, id) : addressById(id));
      const { keys, args } = new ChangeRows(names, addresses, newAddress).of(change);
      const result = await this.#connection.run(script, keys, args, readReply);
      if (result !== null) return result;
      sought = ids;
    }
    throw unavailable("the keys of a change were found at one address after the other");
  }
}

/** Puts a change into the letters of commit.lua. */
class ChangeRows {
  readonly #names: WorkspaceNames;
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #newAddress: (keyId: string) => string;
  /** The number that the script knows a record by. */
  readonly #numbers = new Map<string, number>();
  readonly #records: Row[] = [];
  #count = 0;

  constructor(
    names: WorkspaceNames,
    addresses: ReadonlyMap<string, string>,
    newAddress: (keyId: string) => string,
  ) {
    this.#names = names;
    this.#addresses = addresses;
    this.#newAddress = newAddress;
  }

  /** Records come before what speaks of them by number. */
  of(change: Change) {
    const { enters, leaves, dropWindows } = change;
    for (const expectation of change.expects) this.#expect(expectation);
    const changes: Row[] = [
      ...change.releases.map((claim) => this.#release(claim)),
      ...change.claims.map((claim) => this.#claim(claim)),
      ...change.counters.map((counters) => this.#counters(counters)),
    ];
    const writes = joinRows([
      ...change.puts.map((put) => this.#put(put)),
      ...change.deletes.map((record): Row => ["d", [], this.#numberOf(record)]),
      ...leaves.map((entry) => this.#entry("x", entry)),
      ...enters.map((entry) => this.#entry("z", entry)),
      ...dropWindows.map((window): Row => ["w", [this.#names.window(window)]]),
      ...(change.raisesRevision ? [["v", []] as const] : []),
    ]);
    const checks = joinRows([...this.#records, ...changes]);
    return {
      keys: [this.#names.revision, this.#names.addresses, ...checks.keys, ...writes.keys],
      args: [checks.letters, writes.letters, ...checks.args, ...writes.args],
    };
  }

  #know(record: RecordAddress): void {
    const { kind, id } = record;
    this.#count += 1;
    const name = `${kind} ${id}`;
    if (!this.#numbers.has(name)) this.#numbers.set(name, this.#count);
    if (kind !== "key") {
      this.#records.push(["r", [this.#names.recordsOf(record)], id]);
      return;
    }
    const known = this.#addresses.get(id);
    const address = known ?? this.#newAddress(id);
    const letter = known === undefined ? "K" : "k";
    this.#records.push([letter, [this.#names.keyAt(address)], id, address]);
  }

  #numberOf(record: RecordAddress): string {
    const name = `${record.kind} ${record.id}`;
    if (!this.#numbers.has(name)) this.#know(record);
    return String(this.#numbers.get(name));
  }

  #expect({ version, ...record }: Expectation): void {
    this.#know(record);
    const expected = version === null ? "-" : version === "exists" ? "*" : digits(version);
    this.#records.push(["e", [], expected]);
  }

  #release({ id, ...claim }: Claim & { readonly id: string }): Row {
    const names = this.#names.claimed(claim);
    return [claim.kind === "key" ? "L" : "l", names, claim.value, id];
  }

  #claim({ id, ...claim }: Claim & { readonly id: string }): Row {
    const { kind, value } = claim;
    const names = this.#names.claimed(claim);
    if (kind === "key") return ["C", names, value, this.#numberOf({ kind, id })];
    return ["c", [...names, this.#names.recordsOf({ kind, id })], value, id];
  }

  #counters(change: CounterChange): Row {
    const { usage, keepWindows, dropWindows } = change;
    const kept = keepWindows === undefined ? "*" : ` ${keepWindows.join(" ")} `;
    const text = usage === undefined ? "-" : changeText(usage);
    return ["u", [], this.#numberOf(change), text, kept, ` ${(dropWindows ?? []).join(" ")} `];
  }

  #put({ record, counters }: Put): Row {
    const { kind, version, link, body } = record;
    const row = [
      this.#numberOf(record),
      link === null ? digits(version) : `${digits(version)} ${link}`,
      body === undefined ? "" : JSON.stringify(body),
    ] as const;
    if (counters === undefined) return ["p", [], ...row];
    if ("usage" in counters) return ["n", [], ...row, usageText(counters.usage)];
    return ["s", [], ...row, this.#numberOf({ kind, id: counters.sharedWith })];
  }

  #entry(letter: string, { list, of, id }: ListEntry): Row {
    if (of === undefined) return [letter, [this.#names.list(list)], id];
    const { bucket, tag } = this.#names.smallList(list, of);
    return [letter, [bucket], `${tag} ${id}`];
  }
}

/** In the words of change-usage.lua. */
function changeText({ operation, due, restartsAt }: UsageChange): string {
  const { kind } = operation;
  const number = kind === "set" ? operation.remaining : kind === "keep" ? null : operation.by;
  const refill = due === null ? "- -" : `${digits(due.amount)} ${digits(due.dueAt)}`;
  return `${kind} ${orDash(number)} ${refill} ${orDash(restartsAt)}`;
}

/** All keys that a change speaks of, each once. */
function keysOf({ expects, puts, deletes, counters, claims }: Change): readonly string[] {
  const shared = puts.flatMap(({ record: { kind }, counters }) =>
    counters !== undefined && "sharedWith" in counters ? [{ kind, id: counters.sharedWith }] : [],
  );
  const put = puts.map(({ record }) => record);
  const records = [...expects, ...put, ...shared, ...deletes, ...counters, ...claims];
  return [...new Set(records.flatMap(({ kind, id }) => (kind === "key" ? [id] : [])))];
}

function guessedAddresses({ expects }: Change): Map<string, string> {
  const handles = expects.flatMap(({ kind, id, handle }) =>
    kind === "key" && typeof handle === "string" ? [[id, addressOfHandle(handle)] as const] : [],
  );
  return new Map(handles);
}

function isExpectedAbsent({ expects }: Change, keyId: string): boolean {
  return expects.some(
    ({ kind, id, version }) => kind === "key" && id === keyId && version === null,
  );
}

/** A new key has the address of its first claim, so that it is found by that at once. */
function claimedAddress({ claims }: Change, keyId: string): string {
  const claim = claims.find(({ kind, id }) => kind === "key" && id === keyId);
  return claim === undefined ? addressById(keyId) : addressByClaim(claim);
}

/** Whether a server without memory may refuse it. Whatever takes access away makes nothing new. */
function isGrowth({ claims, expects }: Change): boolean {
  const made = expects.filter(({ version }) => version === null);
  return claims.length > 0 || made.some(({ kind }) => kind !== "workspace");
}

/** Null where it is to be asked for again with other addresses. */
function readReply(answer: unknown): CommitResult | null {
  const [status, first, ...rest] = asList(answer, "change");
  switch (status) {
    case "OK": {
      const texts = first === undefined ? [] : [first, ...rest];
      const usages = texts.map((text) => parseUsage(String(text).split(" "), "counters"));
      return { kind: "committed", usages };
    }
    case "STALE":
      return { kind: "stale", index: whole(first, "change") };
    case "TAKEN":
      return { kind: "taken", index: whole(first, "change") };
    case "REFUSED":
      return { kind: "refused", index: whole(first, "change"), reason: readRefusal(rest) };
    case "MOVED":
      return null;
    case "CORRUPT":
      throw corruptRecord("counters");
    default:
      throw unexpected();
  }
}

function readRefusal([kind, left]: readonly unknown[]): UsageRefusal {
  if (kind === "unlimited") return { kind };
  if (kind === "insufficient" || kind === "overflow")
    return { kind, remaining: whole(left, "counters") };
  throw unexpected();
}
