import { permissionQueryField } from "@latchkey/core";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Components } from "./components.js";
import { toJsonSchema } from "./json-schema.js";

const components: Components = new Map();
const schema = toJsonSchema(
  z.strictObject({ permissions: permissionQueryField }),
  "input",
  components,
);
const accepts = new Ajv2020({ strict: false }).compile({
  ...schema,
  components: { schemas: Object.fromEntries(components) },
});

/** Queries, and values that are almost queries: wrong members, empty groups, other types. */
const queryLike = fc.letrec<{ query: unknown }>((tie) => {
  const group = fc.array(tie("query"), { maxLength: 3 });
  return {
    query: fc.oneof(
      { maxDepth: 4 },
      fc.string({ maxLength: 5 }),
      fc.constantFrom(null, 7, true, [], {}),
      fc.record({ and: group }),
      fc.record({ or: group }),
      fc.record({ and: group, or: group }),
      fc.record({ not: group }),
    ),
  };
}).query;

test("the document accepts exactly the permission queries that the service accepts", () => {
  fc.assert(
    fc.property(queryLike, (permissions) => {
      expect(accepts({ permissions })).toBe(permissionQueryField.safeParse(permissions).success);
    }),
  );
});
