import type { ChangeLog, LoggedChange } from "@latchkey/core";
import { deletionArguments, logArguments } from "./change-arguments.js";
import type { Connection } from "./connection.js";
import type { KeyNames } from "./key-names.js";
import { keyKeys } from "./key-places.js";
import type { KeyQueries } from "./key-queries.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { text } from "./values.js";

/** Deletions of keys. Nothing of a key is kept. */
export class KeyRemoval {
  readonly #connection: Connection;
  readonly #names: KeyNames;
  readonly #queries: KeyQueries;

  constructor(connection: Connection, names: KeyNames, queries: KeyQueries) {
    this.#connection = connection;
    this.#names = names;
    this.#queries = queries;
  }

  async delete(
    workspaceId: string,
    keyId: string,
    log: ChangeLog,
  ): Promise<"deleted" | "not-found"> {
    const place = await this.#queries.placeOf(workspaceId, keyId);
    if (place === null) return "not-found";
    const names = this.#names.of(workspaceId);
    const [record, longFields, counters] = keyKeys(names, place);
    const keys = [
      record,
      longFields,
      names.keyHashes,
      names.keyList,
      names.identityKeyList,
      names.apis,
      names.uses,
      names.lastUsed,
      counters,
      names.changes,
      names.changeList,
    ];
    const args = [keyId, ...logArguments(log)];
    const [status] = await this.#connection.run(SCRIPTS.deleteKey, keys, args);
    if (status === "DELETED") return "deleted";
    if (status === "NOT_FOUND") return "not-found";
    throw unexpected(status);
  }

  /**
   * Deletes the first keys of an API. Two steps: which keys, then all of them in one; racers share them out between them.
   */
  async deleteSome(
    workspaceId: string,
    apiId: string,
    limit: number,
    entryOf: ((keyId: string) => LoggedChange) | null,
  ): Promise<{ readonly deleted: readonly string[]; readonly hasMore: boolean }> {
    const names = this.#names.of(workspaceId);
    const listed = await this.#queries.deletable(workspaceId, apiId, limit + 1);
    const chosen = listed.slice(0, limit);
    if (chosen.length === 0) return { deleted: [], hasMore: false };
    const keys = [
      names.keyHashes,
      names.keyList,
      names.identityKeyList,
      names.uses,
      names.lastUsed,
      names.changes,
      names.changeList,
      ...chosen.flatMap((place) => keyKeys(names, place)),
    ];
    const ids = chosen.map(({ id }) => id);
    const args = [apiId, String(ids.length), ...ids, ...deletionArguments(ids, entryOf)];
    const [status, ...deleted] = await this.#connection.run(SCRIPTS.deleteKeys, keys, args);
    if (status !== "OK") throw unexpected(status);
    return { deleted: deleted.map(text), hasMore: listed.length > limit };
  }
}
