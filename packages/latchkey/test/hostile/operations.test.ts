import { ERROR_CODES, LatchkeyError, OPERATIONS } from "@latchkey/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changed, changesOf } from "./changed.js";
import { fuzz } from "./fuzz.js";
import { type Filled, fill } from "./inputs.js";
import { hostile, hostileText } from "./values.js";

let filled: Filled = await fill();

/** The error of a call; null if it resolves. */
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

test("every operation accepts the input from which hostile ones are derived", async () => {
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
    runs: 2_400,
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
      // If the whole input was replaced, its fields are unknown here.
      if (fields.includes(null)) return;
      const siblings = inputs
        .filter(([other]) => other === name)
        .flatMap(([, input]) => fieldsOf(input));
      const known = new Set<unknown>(["", ...fields, ...siblings]);
      // A rule about several fields may name a field that was not changed, or the whole input.
      for (const { path } of issues) expect(known, name).toContain(path.split(".")[0]);
    },
  },
);

const LISTS = [
  "listApis",
  "listKeys",
  "listIdentities",
  "listRootKeys",
  "listAuditEvents",
] as const;
const part = fc.oneof(
  fc.constantFrom(
    "1",
    "keys",
    "apis",
    "identities",
    "root-keys",
    "audit-events",
    "ws_default",
    "key_1",
    "api_zz",
  ),
  hostileText,
);
const cursor = fc.oneof(
  hostileText,
  fc
    .array(part, { minLength: 1, maxLength: 5 })
    .map((parts) => Buffer.from(parts.join(":")).toString("base64url")),
);

fuzz("any cursor begins a page of the list, or is refused by its name", {
  corpus: "cursors",
  runs: 800,
  input: fc.record({ list: fc.nat(LISTS.length - 1), cursor }),
  feed: async ({ list, cursor }) => {
    const name = LISTS[list] ?? "listApis";
    const { latchkey, inputs } = filled;
    const given = { ...(inputs.find(([other]) => other === name)?.[1] as object), cursor };
    const error = await errorOf(() =>
      (latchkey[name] as (input: unknown) => Promise<unknown>)(given),
    );
    if (error === null) return;
    expect(error).toMatchObject({ code: "BAD_REQUEST", issues: [{ path: "cursor" }] });
  },
});
