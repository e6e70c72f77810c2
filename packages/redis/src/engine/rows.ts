import type { Claim, RecordKind } from "@latchkey/core";
import type { Names } from "./names.js";

/** Instructions for a script: one letter each, with its Redis keys and arguments. */
export class Rows {
  letters = "";
  readonly keys: string[] = [];
  readonly args: string[] = [];
  #kindOfHolders: RecordKind | undefined;

  add(letter: string, keys: readonly string[], ...args: readonly string[]): void {
    this.letters += letter;
    this.keys.push(...keys);
    this.args.push(...args);
  }

  /** Adds a claim, after the hashes of the records that may hold it. These are added once for successive claims of one kind. */
  addName(letter: string, names: Names, claim: Claim, ...args: readonly string[]): void {
    const homes = names.everyPartOf(claim.kind);
    if (claim.kind !== this.#kindOfHolders) this.add("h", homes, String(homes.length));
    this.#kindOfHolders = claim.kind;
    this.add(letter, [names.claims(claim)], claim.value, ...args);
  }
}
