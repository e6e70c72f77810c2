import type { Claim, ListEntry } from "@latchkey/core";
import { prepareAll, type Row, type SqliteDatabase } from "./database.js";

export const NAME_SQL = {
  workspace: "SELECT seq FROM latchkey_workspace WHERE id = ?",
  addWorkspace: "INSERT INTO latchkey_workspace (id) VALUES (?)",
  name: "SELECT seq FROM latchkey_name WHERE workspace = ? AND name = ?",
  addName: "INSERT INTO latchkey_name (workspace, name) VALUES (?, ?)",
} as const;

/** What no workspace, list or claim has for its number: nothing is found under it. */
export const NO_NUMBER = 0;

/** How many numbers one connection remembers. */
const MOST = 10_000;

/**
 * The numbers of workspaces, and of the names of lists and claims. They are never given again, so that what is known of them
 * stays true, also beside other processes.
 */
export class Names {
  readonly #run;
  readonly #workspaces = new Map<string, number>();
  readonly #names = new Map<string, number>();

  constructor(database: SqliteDatabase) {
    this.#run = prepareAll(database, NAME_SQL);
  }

  /** @param isAdded - Inside a write transaction: whether a new one is given a number. Else it answers none that finds something. */
  workspace(id: string, isAdded = false): number {
    const known =
      this.#workspaces.get(id) ?? keep(this.#workspaces, id, this.#run.workspace.get(id));
    if (known !== NO_NUMBER || !isAdded) return known;
    return keep(this.#workspaces, id, [Number(this.#run.addWorkspace.run(id).lastInsertRowid)]);
  }

  /** The number of a list or a claim, as {@link workspace}. */
  name(workspace: number, name: string, isAdded = false): number {
    const key = `${workspace} ${name}`;
    const known =
      this.#names.get(key) ?? keep(this.#names, key, this.#run.name.get(workspace, name));
    if (known !== NO_NUMBER || !isAdded) return known;
    return keep(this.#names, key, [Number(this.#run.addName.run(workspace, name).lastInsertRowid)]);
  }

  /** Call it when a transaction was rolled back: numbers that were given in it may be given again. */
  forget(): void {
    this.#workspaces.clear();
    this.#names.clear();
  }
}

function keep(known: Map<string, number>, key: string, row: Row | undefined): number {
  const number = row?.[0];
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
