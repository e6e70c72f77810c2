import { existsSync, readFileSync } from "node:fs";

/** What the callers of all processes were told, one entry for each key. */
export interface Ledger {
  readonly admitted: number;
  readonly unknown: number;
  readonly keys: readonly {
    readonly admitted: readonly { readonly remaining: number; readonly at: number }[];
    /** Uses that may have been taken without anybody being told: no answer came, or nobody was left to hear it. */
    readonly unknown: number;
  }[];
}

/** Reads what the workers of `hammer.worker.ts` wrote. */
export function readJournals(paths: readonly string[]): Ledger {
  const keys: { admitted: { remaining: number; at: number }[]; unknown: number }[] = [];
  const entryOf = (number: number) => {
    keys[number] ??= { admitted: [], unknown: 0 };
    return keys[number];
  };
  for (const path of paths) {
    const open = new Map<string, number>();
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    // The last is empty, or was being written when its writer was killed.
    for (const line of lines.slice(0, -1)) {
      const [kind, question = "", key, ...rest] = line.split(" ");
      const entry = entryOf(Number(key));
      if (kind === "asked") open.set(question, Number(key));
      else open.delete(question);
      if (kind === "admitted") {
        entry.admitted.push({ remaining: Number(rest[0]), at: Number(rest[1]) });
      }
      if (kind === "unknown") entry.unknown += 1;
    }
    for (const key of open.values()) entryOf(key).unknown += 1;
  }
  const sum = (count: (entry: (typeof keys)[0]) => number) =>
    keys.reduce((total, entry) => total + count(entry), 0);
  return {
    admitted: sum(({ admitted }) => admitted.length),
    unknown: sum(({ unknown }) => unknown),
    keys,
  };
}
