import type { LoadedKey, Page, PageRequest } from "@latchkey/core";
import type { Connection } from "./connection.js";
import { type KeyNames, longFieldsName, recordName } from "./key-names.js";
import { loadedKey } from "./key-record.js";
import { inGroups } from "./pages.js";
import { asReply, type Reply } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { damaged, text, whole } from "./values.js";
import { workspaceRecord } from "./workspace-record.js";

/** A key by what finds it: the hash it is kept under, and the id it must have, or "" for any. */
interface Wanted {
  readonly hash: string;
  readonly id: string;
}

/** Where a key is kept. */
export interface KeyPlace extends Wanted {
  /** Under which its counters are kept, if it shares them; else its own id, under which it would share them. */
  readonly countersId: string;
}

/** Reads of keys. */
export class KeyQueries {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async findByHash(hash: string, workspaceId: string): Promise<LoadedKey | null> {
    const [loaded = null] = await this.#load(workspaceId, [{ hash, id: "" }]);
    return loaded;
  }

  async find(workspaceId: string, keyId: string): Promise<LoadedKey | null> {
    const place = await this.placeOf(workspaceId, keyId);
    if (place === null) return null;
    const [loaded = null] = await this.#load(workspaceId, [place]);
    return loaded;
  }

  /**
   * Where a key is kept, or null where there is no such key. That never changes; whoever goes on with it finds out in the
   * next step whether the key is still there.
   */
  async placeOf(workspaceId: string, keyId: string): Promise<KeyPlace | null> {
    const { keyHashes } = this.#names.of(workspaceId);
    const [stored] = await this.#connection.run(SCRIPTS.findKeyHash, [keyHashes], [keyId]);
    return stored === undefined ? null : keyPlace([keyId, stored]);
  }

  /** Two steps: which keys, and all of them as one snapshot. A key that is deleted in between is left out. */
  async list(
    workspaceId: string,
    apiId: string,
    { identityId }: { readonly identityId: string | null },
    page: PageRequest,
  ): Promise<Page<LoadedKey>> {
    const { apis, keyList, identityKeyList, keyHashes, identities } = this.#names.of(workspaceId);
    const list = identityId === null ? keyList : identityKeyList;
    const prefix = identityId === null ? apiId : `${apiId} ${identityId}`;
    let { afterId } = page;
    for (;;) {
      const begin = afterId === null ? `[${prefix} ` : `(${prefix} ${afterId}`;
      // "!" is the character that follows the space: the end of all that begin with the prefix.
      const args = [
        apiId,
        begin,
        `(${prefix}!`,
        String(page.limit + 1),
        `[${apiId} `,
        `(${apiId}!`,
        identityId ?? "",
      ];
      const reply = await this.#connection.run(
        SCRIPTS.listKeys,
        [apis, keyList, list, keyHashes, identities],
        args,
      );
      if (reply[0] === "NO_API") return { items: [], hasMore: false, total: 0 };
      if (reply[0] !== "OK") return damaged();
      const found = inGroups(reply.slice(2), 2).map(keyPlace);
      const shown = found.slice(0, page.limit);
      const hasMore = found.length > shown.length;
      const loaded = await this.#load(workspaceId, shown);
      const items = loaded.filter((key) => key !== null);
      // A page without items could not say where the next one begins.
      if (items.length > 0 || !hasMore) return { items, hasMore, total: whole(reply[1]) };
      afterId = shown.at(-1)?.id ?? afterId;
    }
  }

  /** The first keys of an API, whether or not the API itself was deleted. */
  async deletable(workspaceId: string, apiId: string, limit: number): Promise<readonly KeyPlace[]> {
    const { keyList, keyHashes } = this.#names.of(workspaceId);
    const args = [`[${apiId} `, `(${apiId}!`, String(limit)];
    const reply = await this.#connection.run(SCRIPTS.listDeletableKeys, [keyList, keyHashes], args);
    return reply[0] === "OK" ? inGroups(reply.slice(1), 2).map(keyPlace) : damaged();
  }

  async #load(
    workspaceId: string,
    wanted: readonly Wanted[],
  ): Promise<readonly (LoadedKey | null)[]> {
    if (wanted.length === 0) return [];
    const names = this.#names.of(workspaceId);
    const keys = [
      names.workspace,
      names.roles,
      names.permissions,
      names.identities,
      names.apis,
      names.uses,
      names.lastUsed,
      ...wanted.flatMap(({ hash }) => [recordName(names, hash), longFieldsName(names, hash)]),
    ];
    const params = [...keys, ...wanted.map(({ id }) => id)];
    const reply = await this.#connection.verify(SCRIPTS.loadKeys, keys.length, params, asReply);
    const workspace = workspaceRecord(workspaceId, reply);
    return wanted.map(({ hash }, number) => loadedKey(hash, workspace, reply[3 + number]));
  }
}

/** Reads the id of a key and what is kept of it: `<hash>`, or `<countersId> <hash>`. */
function keyPlace([keyId, stored]: Reply): KeyPlace {
  const id = text(keyId);
  const [hash = "", countersId = id] = text(stored).split(" ").reverse();
  return { id, hash, countersId };
}
