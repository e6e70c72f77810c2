import type { LoadedKey, Page, PageRequest } from "@latchkey/core";
import type { Connection } from "./connection.js";
import { type KeyNames, longFieldsName, recordName } from "./key-names.js";
import { loadedKey, workspaceRecord } from "./records.js";
import { asReply } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { damaged, text, whole } from "./values.js";

/** A key by what finds it: the hash it is kept under, and the id it must have, or "" for any. */
interface Wanted {
  readonly hash: string;
  readonly id: string;
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
    const hash = await this.hashOf(workspaceId, keyId);
    if (hash === null) return null;
    const [loaded = null] = await this.#load(workspaceId, [{ hash, id: keyId }]);
    return loaded;
  }

  /**
   * The hash that a key is kept under, or null where there is no such key. It never changes; whoever goes on with it
   * finds out in the next step whether the key is still there.
   */
  async hashOf(workspaceId: string, keyId: string): Promise<string | null> {
    const { keyHashes } = this.#names.of(workspaceId);
    const [hash] = await this.#connection.run(SCRIPTS.findKeyHash, [keyHashes], [keyId]);
    return hash === undefined ? null : text(hash);
  }

  /** Two steps: which keys, and all of them as one snapshot. A key that is deleted in between is left out. */
  async list(
    workspaceId: string,
    apiId: string,
    identityId: string | null,
    page: PageRequest,
  ): Promise<Page<LoadedKey>> {
    const { apis, keyList, identityKeyList, keyHashes } = this.#names.of(workspaceId);
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
      ];
      const reply = await this.#connection.run(
        SCRIPTS.listKeys,
        [apis, keyList, list, keyHashes],
        args,
      );
      if (reply[0] === "NO_API") return { items: [], hasMore: false, total: 0 };
      if (reply[0] !== "OK") return damaged();
      const found = wantedOf(reply.slice(2));
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
  async deletable(workspaceId: string, apiId: string, limit: number): Promise<readonly Wanted[]> {
    const { keyList, keyHashes } = this.#names.of(workspaceId);
    const args = [`[${apiId} `, `(${apiId}!`, String(limit)];
    const reply = await this.#connection.run(SCRIPTS.listDeletableKeys, [keyList, keyHashes], args);
    return reply[0] === "OK" ? wantedOf(reply.slice(1)) : damaged();
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
      ...wanted.flatMap(({ hash }) => [recordName(names, hash), longFieldsName(names, hash)]),
    ];
    const params = [...keys, ...wanted.map(({ id }) => id)];
    const reply = await this.#connection.verify(SCRIPTS.loadKeys, keys.length, params, asReply);
    const workspace = workspaceRecord(workspaceId, reply[0], reply[1]);
    return wanted.map(({ hash }, number) => loadedKey(hash, workspace, reply[2 + number]));
  }
}

function wantedOf(flat: readonly unknown[]): readonly Wanted[] {
  return flat.flatMap((id, at) =>
    at % 2 === 0 ? [{ id: text(id), hash: text(flat[at + 1]) }] : [],
  );
}
