import type { ChangeLog, Page, PageRequest, RootKeyRecord, WorkspaceRecord } from "@latchkey/core";
import { logArguments } from "./change-arguments.js";
import type { Connection } from "./connection.js";
import type { KeyNames } from "./key-names.js";
import { readPage } from "./pages.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { json, list, nullable, object, readStored, safe, text } from "./values.js";
import { workspaceRecord } from "./workspace-record.js";

/**
 * Keys that authorise management calls. Whoever presents one names no workspace, so that a pointer in a slot of its
 * own leads to the workspace that the record is kept with.
 *
 * @see packages/core/decisions/0012-redis-one-slot-per-workspace.md
 */
export class RootKeys {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  /** The record is written last, and decides: a pointer alone finds nothing. */
  async insert(rootKey: RootKeyRecord, log: ChangeLog): Promise<void> {
    const { hash, workspaceId, ...rest } = rootKey;
    const pointer = [this.#names.rootKeyPointer(hash)];
    const [pointed] = await this.#connection.run(SCRIPTS.pointRootKey, pointer, [workspaceId]);
    if (pointed !== "OK") throw unexpected(pointed);
    const { rootKeys, rootKeyList, changes, changeList } = this.#names.of(workspaceId);
    const [status] = await this.#connection.run(
      SCRIPTS.insertRootKey,
      [rootKeys, rootKeyList, changes, changeList],
      [hash, rest.id, JSON.stringify(rest), ...logArguments(log)],
    );
    if (status !== "OK") throw unexpected(status);
  }

  /** The pointer never changes; record and workspace are read together in the second step. */
  async find(hash: string): Promise<{ rootKey: RootKeyRecord; workspace: WorkspaceRecord } | null> {
    const pointer = [this.#names.rootKeyPointer(hash)];
    const [found] = await this.#connection.run(SCRIPTS.findRootKeyWorkspace, pointer, []);
    if (typeof found !== "string") return null;
    const { rootKeys, workspace } = this.#names.of(found);
    const keys = [rootKeys, workspace];
    const [stored, ...record] = await this.#connection.run(SCRIPTS.findRootKey, keys, [hash]);
    if (stored === undefined) return null;
    return {
      rootKey: rootKeyRecord(hash, found, stored),
      workspace: workspaceRecord(found, record),
    };
  }

  async list(workspaceId: string, page: PageRequest): Promise<Page<RootKeyRecord>> {
    const { rootKeyList, rootKeys } = this.#names.of(workspaceId);
    // "!" is the character that follows the space: the end of all that begin with the id.
    const start = page.afterId === null ? "-" : `(${page.afterId}!`;
    const reply = await this.#connection.run(
      SCRIPTS.listRootKeys,
      [rootKeyList, rootKeys],
      [start, String(page.limit + 1)],
    );
    return readPage(reply, 2, page, ([hash, stored]) =>
      rootKeyRecord(String(hash), workspaceId, stored),
    );
  }

  /**
   * The record goes first, and decides: with it the root key is dead. What may be left of the second step is a pointer that
   * finds nothing, so that its failure is not one of the deletion.
   */
  async delete(
    workspaceId: string,
    rootKeyId: string,
    log: ChangeLog,
  ): Promise<"deleted" | "not-found"> {
    const { rootKeys, rootKeyList, changes, changeList } = this.#names.of(workspaceId);
    const [status, hash] = await this.#connection.run(
      SCRIPTS.deleteRootKey,
      [rootKeys, rootKeyList, changes, changeList],
      [rootKeyId, ...logArguments(log)],
    );
    if (status === "NOT_FOUND") return "not-found";
    if (status !== "DELETED") throw unexpected(status);
    const pointer = [this.#names.rootKeyPointer(text(hash))];
    await this.#connection
      .run(SCRIPTS.unpointRootKey, pointer, [workspaceId])
      .catch(() => undefined);
    return "deleted";
  }
}

function rootKeyRecord(hash: string, workspaceId: string, stored: unknown): RootKeyRecord {
  return readStored("root key", null, () => {
    const { id, start, name, permissions, expiresAt, switchedOn, createdAt } = object(json(stored));
    return {
      id: text(id),
      workspaceId,
      hash,
      start: text(start),
      name: nullable(name, text),
      permissions: list(permissions, text),
      expiresAt: nullable(expiresAt, (value) => safe(value, 0)),
      // Anything but true is off: a damaged record must not open a door.
      switchedOn: switchedOn === true,
      createdAt: safe(createdAt, 0),
    };
  });
}
