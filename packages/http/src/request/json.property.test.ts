import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJsonObject } from "./json.js";

const bytes = (text: string) => new TextEncoder().encode(text);

test("an object that JSON.stringify wrote reads back the same", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 8 })), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.stringify(parseJsonObject(bytes(text)))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test("a member repeated anywhere is refused", () => {
  const value = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 });
  fc.assert(
    fc.property(value, fc.nat(), fc.nat(), (fields, at, depth) => {
      const members = Object.entries(fields).map(
        ([name, content]) => `${JSON.stringify(name)}:${JSON.stringify(content)}`,
      );
      const doubled = `{${[...members, members[at % members.length]].join(",")}}`;
      const wrapped = `${'{"x":['.repeat(depth % 8)}${doubled}${"]}".repeat(depth % 8)}`;
      expect(() => parseJsonObject(bytes(wrapped))).toThrow("must not contain a member twice");
    }),
  );
});

test("any bytes are read or refused as BAD_REQUEST, nothing else", () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), fc.string().map(bytes), fc.json().map(bytes)), (body) => {
      try {
        expect(typeof parseJsonObject(body)).toBe("object");
      } catch (error) {
        expect(error).toMatchObject({ name: "LatchkeyError", code: "BAD_REQUEST" });
      }
    }),
  );
});
