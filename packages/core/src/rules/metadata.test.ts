import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { checkMetadata, METADATA_BOUNDS, type Metadata } from "./metadata.js";

/** The accepted copy; fails the test if the value is refused. */
function accept(value: unknown): Metadata {
  const check = checkMetadata(value);
  if (!check.ok) throw new Error(`was refused: ${check.message}`);
  return check.metadata;
}

/** Why the value is refused; fails the test if it is accepted. */
function refusal(value: unknown): string {
  const check = checkMetadata(value);
  if (check.ok) throw new Error("was accepted");
  return check.message;
}

/** `levels` objects or arrays inside each other around a value; the outermost is an object. */
function nested(levels: number, innermost: unknown, wrap: "object" | "array" = "object"): unknown {
  let value = innermost;
  for (let level = 1; level < levels; level += 1)
    value = wrap === "object" ? { a: value } : [value];
  return levels === 0 ? innermost : { a: value };
}

const notJson = (path: string, what: string) =>
  `must contain JSON values only: "${path}" is ${what}`;
const TOO_DEEP = "must be at most 16 levels deep";
const TOO_LARGE = "must be at most 16384 bytes of JSON";
const BAD_MEMBER = "must not have a member named __proto__, constructor or prototype";

describe("what metadata is", () => {
  test("a JSON object of any JSON values is accepted as it is", () => {
    const value = {
      plan: "pro",
      seats: 3,
      ratio: -0.5,
      trial: false,
      note: null,
      tags: ["a", 1, { b: [] }],
      empty: {},
    };
    expect(accept(value)).toEqual(value);
  });

  test("an empty object is metadata, and clears old metadata", () => {
    expect(accept({})).toEqual({});
  });

  test("an object without a prototype, or of another realm, is accepted", () => {
    expect(accept(Object.assign(Object.create(null), { plan: "pro" }))).toEqual({ plan: "pro" });
    const ofAnotherRealm: unknown = runInNewContext('({ plan: { name: "pro" }, tags: ["a"] })');
    expect(accept(ofAnotherRealm)).toEqual({ plan: { name: "pro" }, tags: ["a"] });
  });

  test.each([null, undefined, "text", 1, true, 1n, [], ["a"], () => ({})])(
    "%s as a whole is not a JSON object",
    (value) => {
      expect(refusal(value)).toBe("must be a JSON object");
    },
  );

  test.each([
    { label: "a date", value: new Date(0) },
    { label: "a map", value: new Map() },
    { label: "an error", value: new Error("x") },
    { label: "bytes", value: new Uint8Array(2) },
    { label: "an instance of a class", value: new (class Plan {})() },
    { label: "an object that inherits from another", value: Object.create({ plan: "pro" }) },
    { label: "a date of another realm", value: runInNewContext("new Date()") },
    { label: "an object that inherits there", value: runInNewContext("Object.create({ a: 1 })") },
  ])("$label is not a JSON object, and not a JSON value inside of one", ({ value }) => {
    expect(refusal(value)).toBe("must be a JSON object");
    expect(refusal({ a: value })).toBe(notJson("a", "an object of a class"));
    expect(refusal({ a: [value] })).toBe(notJson("a.0", "an object of a class"));
  });

  test.each([
    { label: "undefined", value: undefined },
    { label: "a function", value: () => 1 },
    { label: "a symbol", value: Symbol("x") },
    { label: "a bigint", value: 1n },
    { label: "an object of a class", value: new String("x") },
  ])(
    "$label is refused wherever it stands, not dropped, and the message says where",
    ({ label, value }) => {
      expect(refusal({ a: value })).toBe(notJson("a", label));
      expect(refusal({ a: [1, value] })).toBe(notJson("a.1", label));
      expect(refusal({ b: 1, a: { c: { d: value } } })).toBe(notJson("a.c.d", label));
    },
  );

  test("a message shows only the beginning of a long name, and nothing of a value", () => {
    expect(refusal({ ["n".repeat(9_000)]: undefined })).toBe(notJson("n".repeat(100), "undefined"));
    expect(refusal({ a: { toString: () => "secret" } })).not.toContain("secret");
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "the number %s is refused, not written as null",
    (value) => {
      expect(refusal({ a: value })).toBe(`must contain finite numbers only: "a" is ${value}`);
      expect(refusal({ a: [value] })).toBe(`must contain finite numbers only: "a.0" is ${value}`);
    },
  );

  test("a negative zero, which JSON text loses, is kept as 0 from the start", () => {
    expect(Object.is(accept({ a: -0 }).a, 0)).toBe(true);
  });

  test("a hole in an array is refused, not written as null", () => {
    const sparse = [1, 2];
    sparse[3] = 4;
    expect(refusal({ a: sparse })).toBe(notJson("a.2", "undefined"));
    expect(refusal({ a: new Array(4_294_967_295) })).toBe(notJson("a.0", "undefined"));
  });

  test("a toJSON of the caller is never called: it is a function, and refused", () => {
    expect(refusal({ a: { toJSON: () => "forged" } })).toBe(notJson("a.toJSON", "a function"));
  });

  test("a member that is named toJSON and holds a value is an ordinary member", () => {
    expect(accept({ toJSON: "x" })).toEqual({ toJSON: "x" });
  });
});

describe("members that could reach a prototype", () => {
  const holding = (member: string) => JSON.parse(`{"${member}":{"admin":true}}`) as object;

  test.each(["__proto__", "constructor", "prototype"])(
    "%s is refused at every level, in objects and in arrays",
    (member) => {
      for (let levels = 0; levels < METADATA_BOUNDS.maxDepth; levels += 1) {
        expect(refusal(nested(levels, holding(member)))).toBe(BAD_MEMBER);
      }
      for (let levels = 0; levels < METADATA_BOUNDS.maxDepth - 1; levels += 1) {
        expect(refusal({ a: nested(levels, holding(member), "array") })).toBe(BAD_MEMBER);
      }
      expect(refusal({ list: [1, [holding(member)]] })).toBe(BAD_MEMBER);
    },
  );

  test.each(["__proto", "proto", "Constructor", "prototype2", "hasOwnProperty", "toString"])(
    "%s is an ordinary name",
    (member) => {
      expect(accept({ [member]: 1 })).toEqual({ [member]: 1 });
    },
  );

  test("no check has touched the prototype of anything", () => {
    checkMetadata(JSON.parse('{"__proto__":{"polluted":true}}'));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("depth: the object itself is level 1", () => {
  test.each(["object", "array"] as const)(
    "16 levels are accepted and 17 are refused, through an %s on each",
    (wrap) => {
      expect(accept(nested(15, {}, wrap))).toEqual(nested(15, {}, wrap));
      expect(accept(nested(16, "value", wrap))).toEqual(nested(16, "value", wrap));
      expect(refusal(nested(16, {}, wrap))).toBe(TOO_DEEP);
      expect(refusal(nested(16, [], wrap))).toBe(TOO_DEEP);
      expect(refusal(nested(17, "value", wrap))).toBe(TOO_DEEP);
    },
  );

  test.each(["object", "array"] as const)(
    "100,000 levels through an %s on each are refused without running out of stack",
    (wrap) => {
      expect(refusal(nested(100_000, 1, wrap))).toBe(TOO_DEEP);
    },
  );

  test("an object that holds itself is refused", () => {
    const cyclic: Record<string, unknown> = { plan: "pro" };
    cyclic.self = cyclic;
    expect(refusal(cyclic)).toBe(TOO_DEEP);
  });

  test("an array that holds itself is refused", () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(refusal({ cyclic })).toBe(TOO_DEEP);
  });
});

describe("size: bytes of JSON in UTF-8, not characters", () => {
  /** Metadata that is exactly `bytes` long, filled with a character of the given length. */
  function ofSize(bytes: number, character: string): Metadata {
    const room = bytes - '{"a":""}'.length;
    const width = new TextEncoder().encode(character).length;
    return { a: character.repeat(Math.floor(room / width)) + "x".repeat(room % width) };
  }

  test.each(["x", "é", "€", "🔑"])(
    "filled with %s, 16,384 bytes are accepted and one more is refused",
    (character) => {
      for (const bytes of [16_383, 16_384]) {
        const value = ofSize(bytes, character);
        expect(Buffer.byteLength(JSON.stringify(value))).toBe(bytes);
        expect(accept(value)).toEqual(value);
      }
      expect(refusal(ofSize(16_385, character))).toBe(TOO_LARGE);
    },
  );

  test("characters that JSON escapes count as they are written", () => {
    const room = 16_384 - '{"a":""}'.length;
    expect(accept({ a: '"'.repeat(room / 2) })).toBeDefined();
    expect(refusal({ a: `${'"'.repeat(room / 2)}x` })).toBe(TOO_LARGE);
    expect(refusal({ a: "\0".repeat(room / 6 + 1) })).toBe(TOO_LARGE);
  });

  test("names of members count as values do", () => {
    const room = 16_384 - '{"":1}'.length;
    expect(accept({ ["k".repeat(room)]: 1 })).toBeDefined();
    expect(refusal({ ["k".repeat(room + 1)]: 1 })).toBe(TOO_LARGE);
  });

  test("many small values are refused together: 8,188 zeros fit, one more does not", () => {
    const zeros = (count: number) => ({ a: new Array<number>(count).fill(0) });
    expect(Buffer.byteLength(JSON.stringify(zeros(8_188)))).toBe(16_383);
    expect(accept(zeros(8_188))).toEqual(zeros(8_188));
    expect(refusal(zeros(8_189))).toBe(TOO_LARGE);
  });

  test("few objects that refer to each other often are refused before they are written out", () => {
    let shared: unknown = 1;
    for (let level = 0; level < 14; level += 1) shared = new Array(10).fill(shared);
    expect(refusal({ shared })).toBe(TOO_LARGE);
  });

  test("one long text that is referred to often is refused before it is written out", () => {
    expect(refusal({ a: new Array(16_000).fill("x".repeat(1_000_000)) })).toBe(TOO_LARGE);
  });

  test("one long name that is met often is refused before it is written out", () => {
    const named = { ["k".repeat(1_000_000)]: 1 };
    expect(refusal({ a: new Array(7_000).fill(named) })).toBe(TOO_LARGE);
  });
});

describe("the copy", () => {
  test("is frozen at every level", () => {
    const metadata = accept({ a: { b: [{ c: 1 }] } }) as { a: { b: { c: number }[] } };
    expect(Object.isFrozen(metadata)).toBe(true);
    expect(Object.isFrozen(metadata.a)).toBe(true);
    expect(Object.isFrozen(metadata.a.b)).toBe(true);
    expect(Object.isFrozen(metadata.a.b[0])).toBe(true);
  });

  test("does not change with the object it was made of", () => {
    const value = { a: { b: ["x"] } };
    const metadata = accept(value);
    value.a.b.push("y");
    (value as Record<string, unknown>).c = 1;
    expect(metadata).toEqual({ a: { b: ["x"] } });
  });

  test("leaves the given object as it was, and not frozen", () => {
    const value = { a: { b: 1 } };
    accept(value);
    expect(Object.isFrozen(value) || Object.isFrozen(value.a)).toBe(false);
    expect(value).toEqual({ a: { b: 1 } });
  });

  test.each([(value: object) => value, (value: object) => ({ a: [value] })])(
    "throws the error of a getter, wherever it is",
    (around) => {
      const error = new RangeError("of the caller");
      const value = {
        get a() {
          throw error;
        },
      };
      expect(() => accept(around(value))).toThrow(error);
    },
  );

  test("reads a getter once and keeps its value", () => {
    let reads = 0;
    const value = {
      get a() {
        reads += 1;
        return reads;
      },
    };
    expect(accept(value)).toEqual({ a: 1 });
    expect(reads).toBe(1);
  });
});
