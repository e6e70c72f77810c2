import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "../lib/json.js";
import { type AuditFields, fieldChanges } from "./entry.js";

const name = fc.constantFrom("name", "meta", "expires", "remaining", "roles");
const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<JsonValue>(null, 0, 1, "", "a", true, [], ["a"], {}) },
  fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.parse(JSON.stringify(json)) as JsonValue),
);
const fields = fc.dictionary(
  name,
  fc.option(value, { nil: undefined }),
) as fc.Arbitrary<AuditFields>;

/** A state with only the fields that have a value. */
function valuesOf(state: AuditFields): Record<string, JsonValue> {
  const entries = Object.entries(state).filter(([, held]) => held !== undefined && held !== null);
  return Object.fromEntries(entries) as Record<string, JsonValue>;
}

test("a state and its copy do not differ, whatever the order of their fields", () => {
  fc.assert(
    fc.property(fields, (state) => {
      const copy = structuredClone(state);
      const reversed = Object.fromEntries(Object.entries(copy).reverse());
      expect(fieldChanges(state, copy)).toEqual([]);
      expect(fieldChanges(state, reversed)).toEqual([]);
    }),
  );
});

test("the earlier state with the changes applied is the later state", () => {
  fc.assert(
    fc.property(fields, fields, (before, after) => {
      const state = valuesOf(before);
      for (const change of fieldChanges(before, after)) {
        expect(state[change.field]).toEqual(change.before);
        if (change.after === undefined) delete state[change.field];
        else state[change.field] = change.after;
      }
      expect(state).toEqual(valuesOf(after));
    }),
  );
});

test("comparing in reverse gives the same changes reversed", () => {
  fc.assert(
    fc.property(fields, fields, (before, after) => {
      const sorted = (changes: ReturnType<typeof fieldChanges>) =>
        [...changes].sort((one, other) => (one.field < other.field ? -1 : 1));
      const there = sorted(fieldChanges(before, after));
      const back = sorted(fieldChanges(after, before));
      expect(back.map(({ field, before: was, after: is }) => [field, is, was])).toEqual(
        there.map(({ field, before: was, after: is }) => [field, was, is]),
      );
    }),
  );
});

test("no change is named twice, and none without a value on either side", () => {
  fc.assert(
    fc.property(fields, fields, (before, after) => {
      const changes = fieldChanges(before, after);
      expect(new Set(changes.map(({ field }) => field)).size).toBe(changes.length);
      for (const change of changes)
        expect(change.before !== undefined || change.after !== undefined).toBe(true);
    }),
  );
});
