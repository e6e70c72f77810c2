import type { Claim, ListEntry } from "@latchkey/core";
import { prepare, type SqliteDatabase, type SqliteStatement } from "./database.js";

export const NAME_SQL = {
  workspace: "SELECT seq FROM latchkey_workspace WHERE id = ?",
  name: "SELECT seq FROM latchkey_name WHERE workspace = ? AND name = ?",
} as const;

/** Numbers that one connection remembers. */
const MOST = 10_000;

/** What no workspace, list or claim has for its number: nothing is found under it. */
export const NO_NUMBER = 0;

/**
 * The numbers of workspaces, and of the names of lists and claims. They are never given again, so that what is known of them
 * stays true, also beside other processes.
 */
export class Names {
  readonly #workspace: SqliteStatement;
  readonly #addWorkspace: SqliteStatement;
  readonly #name: SqliteStatement;
  readonly #addName: SqliteStatement;
  readonly #workspaces = new Map<string, number>();
  readonly #names = new Map<string, number>();

  constructor(database: SqliteDatabase) {
    this.#workspace = prepare(database, NAME_SQL.workspace).pluck(true);
    this.#addWorkspace = prepare(database, "INSERT INTO latchkey_workspace (id) VALUES (?)");
    this.#name = prepare(database, NAME_SQL.name).pluck(true);
    this.#addName = prepare(database, "INSERT INTO latchkey_name (workspace, name) VALUES (?, ?)");
  }

  /** The number of a workspace; {@link NO_NUMBER} where nothing was written to it yet. */
  workspace(id: string): number {
    return this.#workspaces.get(id) ?? keep(this.#workspaces, id, this.#workspace.get(id));
  }

  /** The same inside a write transaction, in which it is given a number. */
  numberedWorkspace(id: string): number {
    const known = this.workspace(id);
    if (known !== NO_NUMBER) return known;
    return keep(this.#workspaces, id, Number(this.#addWorkspace.run(id).lastInsertRowid));
  }

  /** The number of a list or a claim; {@link NO_NUMBER} where nothing was in it yet. */
  name(workspace: number, name: string): number {
    const key = `${workspace} ${name}`;
    return this.#names.get(key) ?? keep(this.#names, key, this.#name.get(workspace, name));
  }

  /** The same inside a write transaction, in which it is given a number. */
  numberedName(workspace: number, name: string): number {
    const known = this.name(workspace, name);
    if (known !== NO_NUMBER) return known;
    const number = Number(this.#addName.run(workspace, name).lastInsertRowid);
    return keep(this.#names, `${workspace} ${name}`, number);
  }

  /** Call it when a transaction was rolled back: numbers that were given in it may be given again. */
  forget(): void {
    this.#workspaces.clear();
    this.#names.clear();
  }
}

function keep(known: Map<string, number>, key: string, number: unknown): number {
  if (typeof number !== "number") return NO_NUMBER;
  if (known.size >= MOST) known.clear();
  known.set(key, number);
  return number;
}

/** The name of a claim in `latchkey_name`. Names of lists have no space. */
export function claimName({ kind, index }: Claim): string {
  return `${kind} ${index}`;
}

/** What is stored of a claimed value. A digest in base64url, as which the hashes of keys come, is kept as its 32 bytes. */
export function storedValue({ value }: Claim): string | Buffer {
  const isDigest = value.length === 43 && /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(value);
  return isDigest ? Buffer.from(value, "base64url") : storedText(value);
}

/** What is stored of whose small list an entry is in; empty for the list itself. */
export function storedOwner({ of }: Pick<ListEntry, "of">): string {
  return of === undefined ? "" : `:${storedText(of)}`;
}

/** Lone surrogates have no UTF-8, and would all be stored as one character. */
function storedText(text: string): string {
  return text.isWellFormed() && !text.startsWith("\0") ? text : `\0${JSON.stringify(text)}`;
}
