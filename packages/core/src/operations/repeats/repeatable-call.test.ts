import fc from "fast-check";
import { expect, test } from "vitest";
import { LatchkeyError } from "../../errors.js";
import { fromStoredAnswer, toStoredAnswer } from "./repeatable-call.js";

/** A value after it was stored and read. */
function again(answer: unknown): unknown {
  const stored = toStoredAnswer(answer);
  return fromStoredAnswer(stored === undefined ? undefined : JSON.parse(JSON.stringify(stored)));
}

test("a stored answer has no secret, and says that it was shown", () => {
  const key = "acme_7Qm2";
  expect(JSON.stringify(toStoredAnswer({ keyId: "key_1", key }))).not.toContain(key);
  expect(again({ keyId: "key_1", key })).toEqual({ keyId: "key_1", secretShownBefore: true });
});

test("errors within an answer are restored as errors", () => {
  const error = new LatchkeyError("CONFLICT", '"hash" belongs to a key that already exists', {
    reason: "taken",
    details: { field: "hash" },
    issues: [{ path: "hash", message: "taken" }],
  });
  const { results } = again({ results: [{ error }, { keyId: "key_1" }] }) as {
    readonly results: readonly { readonly error?: unknown }[];
  };
  expect(results[0]?.error).toBeInstanceOf(LatchkeyError);
  expect(results).toEqual([{ error }, { keyId: "key_1" }]);
});

test("any other answer is restored unchanged, whatever its fields are called", () => {
  const name = fc.constantFrom("$error", "$plain", "meta", "key");
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, true, 7, "text"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(value, (meta) => {
      expect(again({ id: "id_1", meta })).toEqual({ id: "id_1", meta });
    }),
  );
  expect(again(undefined)).toBeUndefined();
});
