import {
  type Change,
  type Claim,
  type CommitResult,
  type CounterChange,
  corruptRecord,
  type ListEntry,
  type Put,
  type RecordAddress,
  type UsageRefusal,
} from "@latchkey/core";
import type { StoreContext } from "./engine/context.js";
import { unavailable, unexpected } from "./engine/errors.js";
import { addressByClaim, addressOfHandle, plain, type WorkspaceNames } from "./engine/names.js";
import { joinRows, type Row } from "./engine/rows.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, digits, orDash, parseUsage, usageText, whole } from "./engine/stored-values.js";
import { type Addresses, locate } from "./read.js";

/** How often a change is asked for again with other addresses. Nothing is written before these are right. */
const MOST_STEPS = 10;

/** Carries out a change in one round trip; in two where it speaks of a key without its handle. */
export async function commit(
  context: StoreContext,
  workspaceId: string,
  change: Change,
): Promise<CommitResult> {
  const { connection, names } = context;
  const script = isGrowth(change) ? SCRIPTS.commit : SCRIPTS.commitFreeing;
  const ids = keysOf(change);
  let addresses: Addresses = guessedAddresses(change);
  let sought: readonly string[] = ids.filter(
    (id) => !addresses.has(id) && !isExpectedAbsent(change, id),
  );
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if (sought.length > 0) {
      const found = await locate(context, workspaceId, sought);
      addresses = new Map([...(step === 0 ? addresses : []), ...found]);
    }
    // Where a record still is at the address of a claim that it gave up, a new one gets an address of its own.
    const newAddress = (id: string) => (step < 2 ? claimedAddress(change, id) : plain(id));
    const { keys, args } = describe(change, names.of(workspaceId), addresses, newAddress);
    const result = await connection.run(script, keys, args, readReply);
    if (result !== null) return result;
    sought = ids;
  }
  throw unavailable("the keys of a change were found at one address after the other");
}

/** Puts a change into the letters of commit.lua. */
function describe(
  change: Change,
  names: WorkspaceNames,
  addresses: Addresses,
  newAddress: (keyId: string) => string,
) {
  // Records come before what speaks of them by number.
  const records: Row[] = [];
  const numbers = new Map<string, number>();
  let count = 0;
  const know = (record: RecordAddress): void => {
    const { kind, id } = record;
    const name = `${kind} ${id}`;
    count += 1;
    if (!numbers.has(name)) numbers.set(name, count);
    const known = addresses.get(id);
    const address = known ?? newAddress(id);
    if (kind !== "key") records.push(["r", [names.recordsOf(record)], id]);
    else records.push([known === undefined ? "K" : "k", [names.keyAt(address)], id, address]);
  };
  const numberOf = (record: RecordAddress): string => {
    const name = `${record.kind} ${record.id}`;
    if (!numbers.has(name)) know(record);
    return String(numbers.get(name));
  };
  const claimRow = ({ id, ...claim }: Claim & RecordAddress): Row => {
    const { kind, value } = claim;
    const claimed = names.claimed(claim);
    if (kind === "key") return ["C", claimed, value, numberOf({ kind, id })];
    return ["c", [...claimed, names.recordsOf({ kind, id })], value, id];
  };
  const putRow = ({ record, counters }: Put): Row => {
    const { kind, version, link, body } = record;
    const head = link === null ? digits(version) : `${digits(version)} ${link}`;
    const row = [numberOf(record), head, body === undefined ? "" : JSON.stringify(body)] as const;
    if (counters === undefined) return ["p", [], ...row];
    if ("usage" in counters) return ["n", [], ...row, usageText(counters.usage)];
    return ["s", [], ...row, numberOf({ kind, id: counters.sharedWith })];
  };
  const entryRow = (letter: string, { list, of, id }: ListEntry): Row => {
    const entered = names.list(list, of);
    return [letter, [entered.list], `${entered.start}${id}`];
  };

  for (const { version, ...record } of change.expects) {
    know(record);
    const expected = version === null ? "-" : version === "exists" ? "*" : digits(version);
    records.push(["e", [], expected]);
  }
  const refusable: Row[] = [
    ...change.releases.map(({ id, ...claim }): Row => {
      return [claim.kind === "key" ? "L" : "l", names.claimed(claim), claim.value, id];
    }),
    ...change.claims.map(claimRow),
    ...change.counters.map(
      (counters): Row => ["u", [], numberOf(counters), ...changeWords(counters)],
    ),
  ];
  const writes = joinRows([
    ...change.puts.map(putRow),
    ...change.deletes.map((record): Row => ["d", [], numberOf(record)]),
    ...change.leaves.map((entry) => entryRow("x", entry)),
    ...change.enters.map((entry) => entryRow("z", entry)),
    ...change.dropWindows.map((window): Row => ["w", [names.window(window)]]),
    ...(change.raisesRevision ? [["v", []] as const] : []),
  ]);
  const checks = joinRows([...records, ...refusable]);
  return {
    keys: [names.revision, names.addresses, ...checks.keys, ...writes.keys],
    args: [checks.letters, writes.letters, ...checks.args, ...writes.args],
  };
}

/** A change of uses in the words of change-usage.lua, and the windows that stay and that go. */
function changeWords({ usage, keepWindows, dropWindows = [] }: CounterChange): readonly string[] {
  const kept = keepWindows === undefined ? "*" : ` ${keepWindows.join(" ")} `;
  const dropped = ` ${dropWindows.join(" ")} `;
  if (usage === undefined) return ["-", kept, dropped];
  const { operation, due, restartsAt } = usage;
  const { kind } = operation;
  const number = kind === "set" ? operation.remaining : kind === "keep" ? null : operation.by;
  const refill = due === null ? "- -" : `${digits(due.amount)} ${digits(due.dueAt)}`;
  return [`${kind} ${orDash(number)} ${refill} ${orDash(restartsAt)}`, kept, dropped];
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
  return claim === undefined ? plain(keyId) : addressByClaim(claim);
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
