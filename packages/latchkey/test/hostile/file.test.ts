import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type KeyStore, LatchkeyError } from "@latchkey/core";
import { sqliteStore } from "@latchkey/sqlite";
import fc from "fast-check";
import { expect } from "vitest";
import { tempFolder } from "../../src/testing/temp-folder.js";
import { expectAnswerOrRefusal } from "./answers.js";
import { CALLS, fillStore } from "./calls.js";
import { fuzz } from "./fuzz.js";

/** The bytes of a file with one of everything, and the positions where it differs from an empty one, which contain records. */
interface Filled {
  readonly bytes: Buffer;
  readonly places: readonly number[];
}

let whole: Promise<Filled> | undefined;

async function filled(path: string): Promise<Filled> {
  await sqliteStore(path).close();
  const empty = readFileSync(path);
  const store = sqliteStore(path);
  await fillStore(store);
  await store.close();
  const bytes = readFileSync(path);
  const places = [...bytes.keys()].filter((at) => bytes[at] !== empty[at]);
  return { bytes, places };
}

/** The store of a file; null if it is refused. */
async function opened(path: string): Promise<KeyStore | null> {
  try {
    return sqliteStore(path);
  } catch (error) {
    expect(error).toBeInstanceOf(LatchkeyError);
    return null;
  }
}

fuzz(
  "whatever bytes of a file of SQLite are others, a store answers in the types of the port or refuses",
  {
    corpus: "sqlite-bytes",
    runs: 80,
    input: fc.array(fc.record({ at: fc.nat(2 ** 24), to: fc.oneof(fc.nat(255), fc.nat(15)) }), {
      minLength: 1,
      maxLength: 4,
    }),
    feed: async (changes) => {
      const path = join(tempFolder(), "keys.db");
      whole ??= filled(path);
      const { bytes: good, places } = await whole;
      const bytes = Buffer.from(good);
      for (const { at, to } of changes) bytes[places[at % places.length] ?? 0] = to;
      writeFileSync(path, bytes);
      const store = await opened(path);
      for (const [method, ask] of CALLS)
        if (store?.[method] !== undefined) await expectAnswerOrRefusal(method, () => ask(store));
      await store?.close();
    },
  },
);
