import type {
  LoadedRecord,
  ReadResult,
  RecordAddress,
  RecordKind,
  StoredRecordState,
  Want,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { unavailable } from "./engine/errors.js";
import { addressByClaim, handleOf, type Names, type WorkspaceNames } from "./engine/names.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, parseBody, parseUsage, whole } from "./engine/stored-values.js";

/** How often a read follows keys that change their address while it runs. They do not: only a wrong handle leads astray. */
const MOST_STEPS = 10;

/** Ids of keys and the addresses at which these were last seen. Scripts find out where one is wrong. */
export type KnownAddresses = ReadonlyMap<string, string>;

/** Reads records as one snapshot. */
export class Reading {
  readonly #connection: Connection;
  readonly #names: Names;

  constructor(connection: Connection, names: Names) {
    this.#connection = connection;
    this.#names = names;
  }

  /**
   * One round trip. Two where the address of a key is not known: by its id, or by a name that it claimed later.
   *
   * @param known - Spares the first of two trips.
   */
  async read(
    workspaceId: string,
    wants: readonly Want[],
    known: KnownAddresses = new Map(),
  ): Promise<ReadResult> {
    const names = this.#names.of(workspaceId);
    const addresses = new Map(known);
    const sought = [...wants];
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const answer = await this.#ask(names, sought, addresses);
      const found: (LoadedRecord | null)[] = [];
      for (const [index, want] of sought.entries()) {
        const [text, linked] = [answer[1 + index * 2], answer[2 + index * 2]];
        if (!Array.isArray(text)) {
          found.push(loadedOf(want.kind, text, linked, placeOf(want, addresses)));
          continue;
        }
        const [address, id] = text as unknown as readonly [string, string?];
        const next = id === undefined ? (want as RecordAddress) : { kind: want.kind, id };
        if (addresses.get(next.id) === address) found.push(unreadable(next.id, address));
        addresses.set(next.id, address);
        sought[index] = next;
      }
      if (found.length === wants.length) return { revision: whole(answer[0], "revision"), found };
    }
    throw unavailable("a key was found at one address after the other");
  }

  /** The addresses of those keys that exist. One round trip for all. */
  async locate(workspaceId: string, ids: readonly string[]): Promise<Map<string, string>> {
    const names = this.#names.of(workspaceId);
    const wants = ids.map((id) => ({ kind: "key", id }) as const);
    const answer = await this.#ask(names, wants, new Map());
    const found = new Map<string, string>();
    for (const [index, id] of ids.entries()) {
      const place = answer[1 + index * 2];
      if (Array.isArray(place)) found.set(id, place[0] as string);
    }
    return found;
  }

  /** In the letters of read.lua. */
  #ask(
    names: WorkspaceNames,
    wants: readonly Want[],
    addresses: KnownAddresses,
  ): Promise<readonly unknown[]> {
    const keys = [names.revision, names.identities, names.addresses];
    const args = [""];
    let letters = "";
    for (const want of wants) {
      const [letter, ...own] = lookup(names, want, addresses);
      letters += letter;
      keys.push(...own);
      args.push("id" in want ? want.id : want.value);
    }
    args[0] = letters;
    return this.#connection.run(SCRIPTS.read, keys, args, (answer) => asList(answer, "key"));
  }
}

/** A letter of read.lua, and the Redis keys that it takes. */
function lookup(
  names: WorkspaceNames,
  want: Want,
  addresses: KnownAddresses,
): readonly [string, ...string[]] {
  const { kind } = want;
  const address = placeOf(want, addresses);
  if (kind === "key" && address === undefined) return ["i"];
  if ("id" in want)
    return address === undefined ? ["r", names.recordsOf(want)] : ["k", names.keyAt(address)];
  const claims = names.claimsOf(want);
  return address === undefined
    ? ["c", claims, names.recordsOf({ kind, id: "" })]
    : ["h", names.keyAt(address), claims];
}

/** Where a key is looked for; undefined for other kinds, and where that is not known. */
function placeOf(want: Want, addresses: KnownAddresses): string | undefined {
  if (want.kind !== "key") return undefined;
  return "id" in want ? addresses.get(want.id) : addressByClaim(want);
}

function loadedOf(
  kind: RecordKind,
  text: unknown,
  linked: unknown,
  address: string | undefined,
): LoadedRecord | null {
  if (typeof text !== "string") return null;
  const state = stateOf(kind, text, address);
  return { ...state, linked: typeof linked === "string" ? stateOf("identity", linked) : null };
}

/** As read.lua puts it. */
function stateOf(kind: RecordKind, text: string, address?: string): StoredRecordState {
  const end = text.indexOf("\n");
  const words = text.slice(0, end).split(" ");
  const [id = "", version, link = "", usedAt = "", shared = ""] = words;
  return {
    record: {
      kind,
      id,
      version: versionOf(version),
      link: link === "" ? null : link,
      body: parseBody(text.slice(end + 1)),
    },
    usage: words[5] === "" ? null : parseUsage(words.slice(5), kind),
    usedAt: usedAt === "" ? null : whole(usedAt, kind),
    ...(address !== undefined && { handle: handleOf(address, shared) }),
  };
}

/** 0 for one that cannot be read. */
function versionOf(text: string | undefined): number {
  const version = Number(text);
  return Number.isSafeInteger(version) ? version : 0;
}

/** A key of which no more is left than where it was. */
function unreadable(id: string, handle: string): LoadedRecord {
  const record = { kind: "key", id, version: 0, link: null, body: undefined } as const;
  return { record, usage: null, usedAt: null, linked: null, handle };
}
