import type { RootKeyRecord, WorkspaceRecord } from "@latchkey/core";
import type { Connection } from "./connection.js";
import type { KeyNames } from "./key-names.js";
import { workspaceRecord } from "./records.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { json, list, nullable, object, readStored, safe, text } from "./values.js";

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
  async insert(rootKey: RootKeyRecord): Promise<void> {
    const { hash, workspaceId, ...rest } = rootKey;
    const pointer = [this.#names.rootKeyPointer(hash)];
    await this.#write(SCRIPTS.pointRootKey, pointer, [workspaceId]);
    const { rootKeys } = this.#names.of(workspaceId);
    await this.#write(SCRIPTS.insertRootKey, [rootKeys], [hash, JSON.stringify(rest)]);
  }

  /** The pointer never changes; record and workspace are read together in the second step. */
  async find(hash: string): Promise<{ rootKey: RootKeyRecord; workspace: WorkspaceRecord } | null> {
    const pointer = [this.#names.rootKeyPointer(hash)];
    const [found] = await this.#connection.run(SCRIPTS.findRootKeyWorkspace, pointer, []);
    if (typeof found !== "string") return null;
    const { rootKeys, workspace } = this.#names.of(found);
    const keys = [rootKeys, workspace];
    const reply = await this.#connection.run(SCRIPTS.findRootKey, keys, [hash]);
    if (reply.length === 0) return null;
    return {
      rootKey: readStored("root key", null, () => rootKeyRecord(hash, found, reply[0])),
      workspace: workspaceRecord(found, reply[1], reply[2]),
    };
  }

  async #write(
    script: typeof SCRIPTS.pointRootKey,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<void> {
    const [status] = await this.#connection.run(script, keys, args);
    if (status !== "OK") throw unexpected(status);
  }
}

function rootKeyRecord(hash: string, workspaceId: string, stored: unknown): RootKeyRecord {
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
}
