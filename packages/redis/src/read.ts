import {
  type LoadedRecord,
  NO_USES,
  type ReadResult,
  type RecordAddress,
  type RecordKind,
  type StoredRecordState,
  type Usage,
  type Want,
} from "@latchkey/core";
import type { StoreContext } from "./engine/context.js";
import { unavailable } from "./engine/errors.js";
import { addressByClaim, handleOf, type WorkspaceNames } from "./engine/names.js";
import { joinRows, type Row } from "./engine/rows.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, parseBody, parseUsage, whole, wholeOrNull } from "./engine/stored-values.js";

/** How often a read follows keys to another address. A key keeps its address: only a wrong one leads astray. */
const MOST_STEPS = 10;

/** Ids of keys and the addresses at which these were last seen. Scripts find out where one is wrong. */
export type Addresses = ReadonlyMap<string, string>;

/**
 * Reads records as one snapshot: one round trip, two where the address of a key is not known, which is found by its id or by a
 * name that it claimed later.
 *
 * @param known - Spares the first of two trips.
 */
export async function read(
  context: StoreContext,
  workspaceId: string,
  wants: readonly Want[],
  known: Addresses = new Map(),
): Promise<ReadResult> {
  const addresses = new Map(known);
  const sought = [...wants];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const [revision, ...items] = await ask(context, workspaceId, sought, addresses);
    const found: (LoadedRecord | null)[] = [];
    for (const [index, want] of sought.entries()) {
      const [item, linked] = [items[index * 2], items[index * 2 + 1]];
      if (!Array.isArray(item)) {
        found.push(loadedOf(want.kind, item, linked, placeOf(want, addresses)));
        continue;
      }
      const [address, id] = item.map(String) as [string, string?];
      const next = id === undefined ? (want as RecordAddress) : { kind: want.kind, id };
      if (addresses.get(next.id) === address) found.push(unreadable(next.id, address));
      addresses.set(next.id, address);
      sought[index] = next;
    }
    if (found.length === wants.length) return { revision: whole(revision, "revision"), found };
  }
  throw unavailable("a key was found at one address after the other");
}

/** The addresses of those keys that exist. One round trip for all. */
export async function locate(
  context: StoreContext,
  workspaceId: string,
  ids: readonly string[],
): Promise<Addresses> {
  const wants = ids.map((id) => ({ kind: "key", id }) as const);
  const [, ...items] = await ask(context, workspaceId, wants, new Map());
  const places = ids.map((id, index) => [id, items[index * 2]] as const);
  return new Map(
    places.flatMap(([id, item]) => (Array.isArray(item) ? [[id, String(item[0])]] : [])),
  );
}

function ask(
  { connection, names: all }: StoreContext,
  workspaceId: string,
  wants: readonly Want[],
  addresses: Addresses,
) {
  const names = all.of(workspaceId);
  const rows = joinRows(wants.map((want) => lookup(names, want, placeOf(want, addresses))));
  const keys = [names.revision, names.identities, names.addresses, ...rows.keys];
  const args = [rows.letters, ...rows.args];
  return connection.run(SCRIPTS.read, keys, args, (answer) => asList(answer, "key"));
}

/** In the letters of read.lua. */
function lookup(names: WorkspaceNames, want: Want, address: string | undefined): Row {
  const { kind } = want;
  if ("index" in want) {
    const claimed = names.claimed(want);
    if (kind === "key") return ["h", claimed, want.value];
    return ["c", [...claimed, names.recordsOf({ kind, id: "" })], want.value];
  }
  if (kind !== "key") return ["r", [names.recordsOf(want)], want.id];
  return address === undefined ? ["i", [], want.id] : ["k", [names.keyAt(address)], want.id];
}

/** Where a key is looked for; undefined for other kinds, and where that is not known. */
function placeOf(want: Want, addresses: Addresses): string | undefined {
  if (want.kind !== "key") return undefined;
  return "id" in want ? addresses.get(want.id) : addressByClaim(want);
}

function loadedOf(kind: RecordKind, text: unknown, linked: unknown, address?: string) {
  if (typeof text !== "string") return null;
  const state = stateOf(kind, text, address);
  return { ...state, linked: typeof linked === "string" ? stateOf("identity", linked) : null };
}

/**
 * As read.lua puts it. What is damaged beside the body leaves none, so that one key hides no other and can still be deleted; its
 * counters, if those are what is damaged, have no uses left, and a charge refuses them.
 */
function stateOf(kind: RecordKind, text: string, address?: string): StoredRecordState {
  const end = text.indexOf("\n");
  const [id = "", digits, link = "", usedAt, shared = "", ...words] = text.slice(0, end).split(" ");
  const version = Number(digits);
  const usage = readableUsage(words);
  return {
    record: {
      kind,
      id,
      version: Number.isSafeInteger(version) ? version : 0,
      link: link === "" ? null : link,
      body: usage === undefined ? undefined : parseBody(text.slice(end + 1)),
    },
    usage: usage === undefined ? NO_USES : usage,
    usedAt: wholeOrNull(usedAt),
    ...(address !== undefined && { handle: handleOf(address, shared) }),
  };
}

/** Null where there is no use counter, undefined where the words are not those of one. */
function readableUsage(words: readonly string[]): Usage | null | undefined {
  if (words.length === 1 && words[0] === "") return null;
  try {
    return words.length === 3 ? parseUsage(words, "counters") : undefined;
  } catch {
    return undefined;
  }
}

/** A key of which no more is left than where it was. */
function unreadable(id: string, handle: string): LoadedRecord {
  const record = { kind: "key", id, version: 0, link: null, body: undefined } as const;
  return { record, usage: null, usedAt: null, linked: null, handle };
}
