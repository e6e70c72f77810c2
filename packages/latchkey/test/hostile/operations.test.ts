import { ERROR_CODES, LatchkeyError, OPERATIONS } from "@latchkey/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changed, changesOf } from "./changed.js";
import { fuzz } from "./fuzz.js";
import { type Filled, fill } from "./inputs.js";
import { hostile } from "./values.js";

let filled: Filled = await fill();

/** What becomes of a call that hands in anything: its error, or null. */
async function errorOf(call: () => Promise<unknown>): Promise<unknown> {
  let answer: Promise<unknown>;
  try {
    answer = Promise.resolve(call());
  } catch (error) {
    throw new Error("it threw where it is to reject", { cause: error });
  }
  return answer.then(
    () => null,
    (error: unknown) => error,
  );
}

/** Names and positions in an input. */
function fieldsOf(input: unknown): readonly string[] {
  return typeof input === "object" && input !== null ? Object.keys(input) : [];
}

test("every operation has an input that hostile ones are made of, which it takes", async () => {
  expect(new Set(filled.inputs.map(([name]) => name))).toEqual(new Set(Object.keys(OPERATIONS)));
  for (const [index, [name]] of filled.inputs.entries()) {
    const { latchkey, inputs } = await fill();
    const run = latchkey[name] as (input: unknown) => Promise<unknown>;
    expect([name, await errorOf(() => run(inputs[index]?.[1]))]).toEqual([name, null]);
  }
});

fuzz(
  "hostile input of any operation works, or is refused by the names of its fields with nothing written",
  {
    corpus: "operations",
    runs: 8_000,
    input: fc.record({ operation: fc.nat(1_000), changes: changesOf(hostile) }),
    feed: async ({ operation, changes }) => {
      const { latchkey, inputs, writes } = filled;
      const [name, good] = inputs[operation % inputs.length] ?? [];
      if (name === undefined) return;
      const { value, fields } = changed(good, changes);
      const before = writes();
      const error = await errorOf(() =>
        (latchkey[name] as (input: unknown) => Promise<unknown>)(value),
      );
      if (error === null) {
        if (writes() !== before) filled = await fill();
        return;
      }
      expect(writes(), name).toBe(before);
      expect(error, name).toBeInstanceOf(LatchkeyError);
      const { code, issues } = error as LatchkeyError;
      expect(ERROR_CODES, name).toContain(code);
      expect(["INTERNAL_SERVER_ERROR", "STORE_CORRUPT", "STORE_UNAVAILABLE"], name).not.toContain(
        code,
      );
      if (code !== "BAD_REQUEST") return;
      expect(issues.length, name).toBeGreaterThan(0);
      // Where all of it is something else, its fields are not known here.
      if (fields.includes(null)) return;
      const siblings = inputs
        .filter(([other]) => other === name)
        .flatMap(([, input]) => fieldsOf(input));
      const known = new Set<unknown>(["", ...fields, ...siblings]);
      // A rule on several fields may name another one than was changed, or the whole.
      for (const { path } of issues) expect(known, name).toContain(path.split(".")[0]);
    },
  },
);
