import {
  ERROR_CODES,
  type KeyStore,
  LatchkeyError,
  type LoadedRecord,
  RECORD_KINDS,
  type RecordKind,
  type StoredRecordState,
} from "@latchkey/core";
import fc from "fast-check";
import { expect } from "vitest";
import { changed, changesOf, type ValueChange } from "./changed.js";
import { fuzz } from "./fuzz.js";
import { fill } from "./inputs.js";
import { hostileJson, hostileText } from "./values.js";

/** The damage to every record of a kind. */
interface Damage {
  readonly kind: RecordKind;
  readonly body: readonly ValueChange[];
  readonly link: string | null;
  readonly part: "body" | "link" | "version";
}

function damaged<State extends StoredRecordState>(state: State, damage: Damage): State {
  const { record } = state;
  if (record.kind !== damage.kind) return state;
  if (damage.part === "link") return { ...state, record: { ...record, link: damage.link } };
  if (damage.part === "version")
    return { ...state, record: { ...record, version: 0, body: undefined } };
  const { value } = changed(record.body, damage.body);
  return { ...state, record: { ...record, body: value as typeof record.body } };
}

function damagedWithLinked(loaded: LoadedRecord, damage: Damage): LoadedRecord {
  const linked = loaded.linked && damaged(loaded.linked, damage);
  return { ...damaged(loaded, damage), linked };
}

/** A store that returns damaged records. */
function damagedStore(store: KeyStore, damage: Damage): KeyStore {
  return {
    ...store,
    read: async (...given) => {
      const result = await store.read(...given);
      return {
        ...result,
        found: result.found.map((each) => each && damagedWithLinked(each, damage)),
      };
    },
    page: async (...given) => {
      const result = await store.page(...given);
      return { ...result, found: result.found.map((each) => damagedWithLinked(each, damage)) };
    },
  };
}

/** The invalid numbers in an answer. */
function brokenNumbers(value: unknown): readonly unknown[] {
  if (typeof value === "number") return Number.isFinite(value) ? [] : [value];
  if (value instanceof Date) return brokenNumbers(value.getTime());
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(brokenNumbers);
}

fuzz(
  "whatever a store holds in the place of a record, an operation works, or says why it does not",
  {
    corpus: "records",
    runs: 120,
    input: fc.record({
      operation: fc.nat(1_000),
      kind: fc.constantFrom(...RECORD_KINDS),
      part: fc.constantFrom<Damage["part"]>("body", "body", "body", "body", "link", "version"),
      body: changesOf(hostileJson),
      link: fc.option(hostileText),
    }),
    feed: async ({ operation, ...damage }) => {
      const { latchkey, inputs } = await fill((store) => damagedStore(store, damage));
      const [name, input] = inputs[operation % inputs.length] ?? [];
      if (name === undefined) return;
      let answer: unknown;
      try {
        answer = await (latchkey[name] as (input: unknown) => Promise<unknown>)(input);
      } catch (error) {
        expect(error, name).toBeInstanceOf(LatchkeyError);
        const { code } = error as LatchkeyError;
        expect(ERROR_CODES, name).toContain(code);
        expect(["INTERNAL_SERVER_ERROR", "BAD_REQUEST"], name).not.toContain(code);
        return;
      }
      expect(brokenNumbers(answer), name).toEqual([]);
    },
  },
);
