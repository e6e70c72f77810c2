import { type Claim, decodeBase58, isDigest, type ListEntry } from "@latchkey/core";
import type { Statement } from "./database.js";
import type { Statements } from "./statements.js";

/** Most numbers that one connection remembers. */
const MOST = 10_000;

/** Numbers of workspaces, and of the names of lists and claims. Use it on a confirmed memo: a restored backup has other numbers. */
export class Names {
  readonly #run: Statements;
  readonly #known = new Map<string, number>();

  constructor(run: Statements) {
    this.#run = run;
  }

  /** The number of a workspace. If it has none, `isAdded` gives it one; otherwise the result is 0, under which nothing is found. */
  workspace(id: string, isAdded = false): number {
    const { workspace, addWorkspace } = this.#run;
    return this.#numberOf(`/${id}`, workspace, isAdded ? addWorkspace : null, [id]);
  }

  /** The number of a list or of an index of claims, like {@link workspace}. */
  name(workspace: number, name: string, isAdded = false): number {
    const add = isAdded ? this.#run.addName : null;
    return this.#numberOf(`${workspace}/${name}`, this.#run.name, add, [workspace, name]);
  }

  /** The number of an index of claims, like {@link workspace}. Names of lists contain no space. */
  claims(workspace: number, { kind, index }: Claim, isAdded = false): number {
    return this.name(workspace, `${kind} ${index}`, isAdded);
  }

  /** Call it when a transaction was rolled back, or another connection has changed something: numbers may be reused. */
  forget(): void {
    this.#known.clear();
  }

  #numberOf(key: string, find: Statement, add: Statement | null, row: readonly unknown[]): number {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const number = find.get(...row)?.[0] ?? add?.run(...row).lastInsertRowid;
    if (number === undefined) return 0;
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.set(key, Number(number));
    return Number(number);
  }
}

/** The stored form of a claimed value. A digest in base64url, such as the hash of a key, is stored as its 32 bytes. */
export function storedValue({ value }: Claim): string | Buffer {
  return isDigest(value) ? Buffer.from(value, "base64url") : storedText(value);
}

/**
 * The key of the entries of a list: the number of its name, and the stored owner of a small list; empty for the list itself. An id made
 * by core is stored as the 20 bytes of its 26 digits, which sort by time, and its prefix becomes part of the name.
 */
export function listKey(
  names: Names,
  workspace: number,
  { list, of }: Pick<ListEntry, "list" | "of">,
  isAdded = false,
): readonly [list: number, owner: string | Uint8Array] {
  const [, word, digits = ""] = /^([a-z:]{0,9}_)(\w{26})$/.exec(of ?? "") ?? [];
  const packed = word === undefined ? null : decodeBase58(digits);
  if (packed !== null) return [names.name(workspace, `${list} ${word}`, isAdded), packed];
  return [names.name(workspace, list, isAdded), of === undefined ? "" : `:${storedText(of)}`];
}

/** Lone surrogates have no UTF-8 encoding, and would all be stored as one character. */
function storedText(text: string): string {
  return text.isWellFormed() && !text.startsWith("\0") ? text : `\0${JSON.stringify(text)}`;
}
