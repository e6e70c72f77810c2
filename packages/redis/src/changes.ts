import {
  CHANGE_TYPES,
  type ChangeFilter,
  type ChangeRecord,
  type ChangeType,
  type FieldChange,
  type Removal,
} from "@latchkey/core";
import { actorName } from "./change-arguments.js";
import type { Connection } from "./connection.js";
import type { KeyNames } from "./key-names.js";
import { SCRIPTS } from "./scripts.js";
import {
  damaged,
  flag,
  json,
  list,
  nullable,
  object,
  readStored,
  safe,
  text,
  whole,
} from "./values.js";

const TYPES: ReadonlySet<string> = new Set(CHANGE_TYPES);

/** The audit log as it is read and forgotten. What is written comes along with the change itself. */
export class Changes {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async list(
    workspaceId: string,
    filter: ChangeFilter,
    { beforeId, limit }: { readonly beforeId: string | null; readonly limit: number },
  ): Promise<{ readonly items: readonly ChangeRecord[]; readonly hasMore: boolean }> {
    const { changes, changeList } = this.#names.of(workspaceId);
    const prefix = prefixOf(filter);
    // "!" is the character that follows the space: the end of all that begin with the prefix.
    const begin = beforeId === null ? `(${prefix}!` : `(${prefix} ${beforeId}`;
    const reply = await this.#connection.run(
      SCRIPTS.listChanges,
      [changeList, changes],
      [begin, `[${prefix} `, String(limit + 1)],
    );
    const shown = reply.slice(0, 2 * limit);
    const items = shown.flatMap((id, at) =>
      at % 2 === 0 ? [changeRecord(workspaceId, id, shown[at + 1])] : [],
    );
    return { items, hasMore: reply.length > shown.length };
  }

  async delete(workspaceId: string, beforeId: string, limit: number): Promise<Removal> {
    const { changes, changeList } = this.#names.of(workspaceId);
    const [deleted, hasMore] = await this.#connection.run(
      SCRIPTS.deleteChanges,
      [changeList, changes],
      [`(* ${beforeId}`, String(limit)],
    );
    return { deleted: whole(deleted), hasMore: flag(hasMore) };
  }
}

/** What the members of one list begin with, up to the space before the id of the entry. */
function prefixOf(filter: ChangeFilter): string {
  switch (filter.kind) {
    case "all":
      return "*";
    case "key":
      return `k ${filter.keyId}`;
    case "identity":
      return `i ${filter.identityId}`;
    case "actor":
      return `a ${actorName(filter.actor)}`;
    default:
      return filter satisfies never;
  }
}

function changeRecord(workspaceId: string, id: unknown, stored: unknown): ChangeRecord {
  return readStored("change", id, () => {
    const [keyId = "", identityId = "", , rest, ...more] = text(stored).split("\n");
    if (more.length > 0) damaged();
    const { type, at, actor, resourceId, fields } = object(json(rest));
    return {
      id: text(id),
      workspaceId,
      type: changeType(type),
      at: safe(at, 0),
      actor: nullable(actor, text),
      resourceId: text(resourceId),
      keyId: keyId === "" ? null : keyId,
      identityId: identityId === "" ? null : identityId,
      fields: list(fields, fieldChange),
    };
  });
}

function changeType(value: unknown): ChangeType {
  return TYPES.has(text(value)) ? (value as ChangeType) : damaged();
}

function fieldChange(value: unknown): FieldChange {
  const change = object(value);
  text(change.field);
  return change as unknown as FieldChange;
}
