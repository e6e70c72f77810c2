import { closeSync, existsSync, openSync, readSync } from "node:fs";

/** What the callers in all processes were told about one key. */
export interface Told {
  readonly admitted: { readonly remaining: number; readonly at: number }[];
  /** Uses that may have been taken for calls without an answer. */
  unknown: number;
}

/** The journals of the workers of `hammer.worker.ts`. */
export class Journals {
  readonly #keys: Told[] = [];
  readonly #readers: Reader[] = [];

  /** Adds a journal to read. */
  add(path: string): void {
    this.#readers.push(new Reader(path));
  }

  /** How many uses were admitted so far. */
  get admitted(): number {
    for (const reader of this.#readers) reader.readOn((number) => this.told(number));
    return this.#keys.reduce((sum, { admitted }) => sum + admitted.length, 0);
  }

  /** What callers were told so far about the key with this number. */
  told(number: number): Told {
    this.#keys[number] ??= { admitted: [], unknown: 0 };
    return this.#keys[number];
  }

  /** Counts the questions that got no answer. Call it once, when all workers are gone. */
  close(): void {
    for (const reader of this.#readers) {
      for (const number of reader.open.values()) this.told(number).unknown += 1;
    }
  }
}

/** Reads a journal as it grows. */
class Reader {
  /** Questions without an answer, each with the number of its key. */
  readonly open = new Map<string, number>();
  readonly #path: string;
  #offset = 0;
  #rest = "";

  constructor(path: string) {
    this.#path = path;
  }

  readOn(told: (number: number) => Told): void {
    const lines = (this.#rest + this.#read()).split("\n");
    // The last line is still being written, or was when its writer was killed.
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const [kind, question = "", number, remaining, at] = line.split(" ");
      const entry = told(Number(number));
      if (kind === "asked") this.open.set(question, Number(number));
      else this.open.delete(question);
      if (kind === "admitted") {
        entry.admitted.push({ remaining: Number(remaining), at: Number(at) });
      }
      if (kind === "unknown") entry.unknown += 1;
    }
  }

  #read(): string {
    if (!existsSync(this.#path)) return "";
    const file = openSync(this.#path, "r");
    const chunk = Buffer.alloc(65_536);
    let text = "";
    for (let size = -1; size !== 0; this.#offset += size) {
      size = readSync(file, chunk, 0, chunk.length, this.#offset);
      text += chunk.toString("latin1", 0, size);
    }
    closeSync(file);
    return text;
  }
}
