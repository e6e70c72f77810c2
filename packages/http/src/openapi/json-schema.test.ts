import { metadataField, OPERATIONS } from "@latchkey/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { shared, whole } from "../response-schemas/shared.js";
import type { Components, JsonSchema } from "./components.js";
import { FIELD_NOTES } from "./field-notes.js";
import { toJsonSchema } from "./json-schema.js";

function convert(schema: z.ZodType, io: "input" | "output" = "output") {
  const components: Components = new Map();
  const { properties = {}, ...rest } = toJsonSchema(schema, io, components);
  return { properties: properties as Record<string, JsonSchema>, rest, components };
}

test("a shared schema is defined once and referenced", () => {
  const inner = shared("TestInner", z.strictObject({ size: whole() }));
  const { properties, components } = convert(z.strictObject({ one: inner, two: inner }));
  const reference = { $ref: "#/components/schemas/TestInner" };
  expect(properties).toEqual({ one: reference, two: reference });
  expect([...components.keys()]).toEqual(["TestInner"]);
});

test("a name for two different schemas is refused", () => {
  const components: Components = new Map();
  const wrap = (inner: z.ZodType) => z.strictObject({ inner });
  const first = wrap(shared("TestTwice", z.strictObject({ a: whole() })));
  const second = wrap(shared("TestTwice", z.strictObject({ b: whole() })));
  toJsonSchema(first, "output", components);
  toJsonSchema(first, "output", components);
  expect(() => toJsonSchema(second, "output", components)).toThrow(
    new TypeError('two schemas that differ are both named "TestTwice" in the document'),
  );
});

test("a value or null is one type", () => {
  const { properties } = convert(OPERATIONS.updateKey.input, "input");
  expect(properties.expires).toMatchObject({ type: ["integer", "null"], minimum: 1 });
  expect(properties.expires).not.toHaveProperty("anyOf");
});

test("the bound of all whole numbers is left out, every other one is written", () => {
  const { properties } = convert(z.strictObject({ a: whole(1), b: whole().max(31) }));
  expect(properties).toEqual({
    a: { type: "integer", minimum: 1 },
    b: { type: "integer", minimum: 0, maximum: 31 },
  });
});

test("metadata is an object, in inputs and outputs", () => {
  const { components } = convert(z.strictObject({ meta: metadataField }), "input");
  expect(components.get("Metadata")).toMatchObject({
    type: "object",
    additionalProperties: { $ref: "#/components/schemas/MetadataValue" },
  });
  expect([...components.keys()].sort()).toEqual(["Metadata", "MetadataValue"]);
});

test("a field has the note of its own name, even if fields of one type share a schema", () => {
  const instant = whole();
  const { properties } = convert(
    z.strictObject({ expires: instant, createdAt: instant, a: instant }),
  );
  expect(properties.expires?.description).toBe(FIELD_NOTES.expires);
  expect(properties.createdAt?.description).toBe(FIELD_NOTES.createdAt);
  expect(properties.a).not.toHaveProperty("description");
});

test("a field with a default is optional", () => {
  const { properties, rest } = convert(OPERATIONS.createKey.input, "input");
  expect(rest.required).toEqual(["apiId"]);
  expect(properties.enabled).toMatchObject({ type: "boolean", default: true });
});
