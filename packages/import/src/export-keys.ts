import {
  type ApiList,
  type IdentityView,
  type KeyList,
  type Latchkey,
  LatchkeyError,
} from "@latchkey/core";
import { apiPages } from "./apis.js";
import { type ExportedKey, exportedKey } from "./exported-key.js";
import { assertKnownOptions, assertLatchkey } from "./options.js";

/** The methods of a latchkey that an export calls. */
export type ExportOrigin = Pick<
  Latchkey,
  "listKeys" | "listApis" | "getApi" | "getIdentity" | "workspaceId" | "now"
>;

/** Options of {@link exportKeys}. */
export interface ExportOptions {
  readonly from: ExportOrigin;
  /** The API whose keys are exported. Default: all APIs of the workspace. */
  readonly apiId?: string | undefined;
}

/** A page of keys, with the counts so far. */
export interface ExportPage {
  readonly keys: readonly ExportedKey[];
  /** Keys so far. */
  readonly exported: number;
  /** Of these, keys with an encrypted secret, which is left out. */
  readonly sealed: number;
  /** Of these, keys whose hash is useless without the pepper. */
  readonly peppered: number;
  /** Damaged keys, which are left out. */
  readonly damaged: number;
  /** Damaged APIs, all of whose keys are left out; absent: none. */
  readonly damagedApis?: number;
}

/** Owners after which those known so far are forgotten. */
const MAX_OWNERS = 10_000;

/** Owners that are read at the same time: one after the other, each key of another owner would take a round trip. */
const OWNERS_AT_ONCE = 20;

/**
 * Exports the keys of a workspace or an API with their hashes, a page at a time, without any secret. Keys that are created meanwhile may be
 * missing, and so are those of APIs that are deleted meanwhile.
 *
 * @throws TypeError naming an unknown option.
 * @throws LatchkeyError `NOT_FOUND` for an unknown `apiId`, also if that API is deleted meanwhile.
 */
export async function* exportKeys(options: ExportOptions): AsyncGenerator<ExportPage, void> {
  assertKnownOptions("exportKeys", options, ["from", "apiId"]);
  const { from, apiId } = options;
  assertLatchkey("from", from);
  const owners = new Map<string, IdentityView | null>();
  let [exported, sealed, peppered, damaged, damagedApis] = [0, 0, 0, 0, 0];
  const counts = () => ({
    ...{ exported, sealed, peppered, damaged },
    ...(damagedApis > 0 && { damagedApis }),
  });
  for await (const { apis, damaged: unreadable = 0 } of apisOf(from, apiId)) {
    damagedApis += unreadable;
    for (const api of apis)
      for await (const page of keyPages(from, api.id, apiId !== undefined)) {
        await readOwners(from, page.keys, owners);
        const keys = page.keys.map((key): ExportedKey => {
          const owner = owners.get(key.identity?.id ?? "") ?? null;
          return exportedKey(key, api.name, owner, from.now());
        });
        sealed += page.keys.filter(({ stored }) => stored?.recoverable).length;
        exported += keys.length;
        peppered += keys.filter(({ hash }) => hash.pepper !== undefined).length;
        damaged += page.damaged ?? 0;
        yield { keys, ...counts() };
      }
    // Damaged APIs without another page would go unreported.
    if (unreadable > 0) yield { keys: [], ...counts() };
  }
}

async function* apisOf(
  from: ExportOrigin,
  apiId: string | undefined,
): AsyncGenerator<Pick<ApiList, "apis" | "damaged">> {
  if (apiId === undefined) yield* apiPages(from);
  else yield { apis: [await from.getApi({ apiId })] };
}

/** `isAsked`: whether the caller named the API. Otherwise it is skipped if it was deleted meanwhile. */
async function* keyPages(
  from: ExportOrigin,
  apiId: string,
  isAsked: boolean,
): AsyncGenerator<KeyList> {
  let cursor: string | undefined;
  do {
    const listed = from.listKeys(
      { apiId, ...(cursor !== undefined && { cursor }) },
      { forExport: true },
    );
    const page = isAsked ? await listed : await unlessGone(listed);
    if (page === null) return;
    yield page;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** Adds the owners of a page of keys to those that are known; null for one that was deleted meanwhile. */
async function readOwners(
  from: ExportOrigin,
  keys: KeyList["keys"],
  owners: Map<string, IdentityView | null>,
): Promise<void> {
  if (owners.size >= MAX_OWNERS) owners.clear();
  const named = new Set(keys.flatMap(({ identity }) => identity?.id ?? []));
  const unknown = [...named].filter((id) => !owners.has(id));
  for (let at = 0; at < unknown.length; at += OWNERS_AT_ONCE) {
    const reading = unknown.slice(at, at + OWNERS_AT_ONCE).map(async (identityId) => {
      owners.set(identityId, await unlessGone(from.getIdentity({ identityId })));
    });
    await Promise.all(reading);
  }
}

/** Null instead of a `NOT_FOUND` error. */
function unlessGone<Value>(asked: Promise<Value>): Promise<Value | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND") return null;
    throw error;
  });
}
