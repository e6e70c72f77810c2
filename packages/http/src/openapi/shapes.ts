import { metadataField, permissionQueryField } from "@latchkey/core";
import type { z } from "zod";
import { metadata, SHARED } from "../response-schemas/shared.js";
import { when } from "./bounds.js";
import type { JsonSchema } from "./components.js";

/** Member names that metadata must not have, at any depth. */
const REFUSED_MEMBERS = ["__proto__", "constructor", "prototype"];

/** JSON Schemas of inputs that core checks with its own functions. */
export const SHAPES: ReadonlyMap<z.core.$ZodType, JsonSchema> = new Map<
  z.core.$ZodType,
  JsonSchema
>([
  [metadata, metadataShape()],
  [metadataField, metadataShape()],
  [permissionQueryField, permissionQueryShape()],
]);

SHARED.add(metadata, { id: "Metadata" });
SHARED.add(metadataField as z.ZodType, { id: "Metadata" });
SHARED.add(permissionQueryField as z.ZodType, { id: "PermissionQuery" });

/** Components that a shape refers to, by the component that holds the shape. */
export const COMPONENTS_OF_SHAPES: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> =
  { Metadata: { MetadataValue: metadataValueShape() } };

function metadataShape(): JsonSchema {
  return {
    type: "object",
    propertyNames: { not: { enum: REFUSED_MEMBERS } },
    additionalProperties: { $ref: "#/$defs/MetadataValue" },
    description:
      "Any JSON object: at most 16 KiB and 16 levels deep, without members named `__proto__`, " +
      "`constructor` or `prototype`.",
  };
}

/**
 * Any JSON value. A condition instead of a choice of types: for a choice, generators of TypeScript would write a type that is a list of
 * itself, which does not compile.
 */
function metadataValueShape(): JsonSchema {
  return {
    ...when(
      { type: "object" },
      { $ref: "#/$defs/Metadata" },
      { items: { $ref: "#/$defs/MetadataValue" } },
    ),
    description: "A JSON value in metadata.",
  };
}

function permissionQueryShape(): JsonSchema {
  const group = (name: string) => ({
    type: "object",
    properties: {
      [name]: { type: "array", minItems: 1, items: { $ref: "#/$defs/PermissionQuery" } },
    },
    required: [name],
    additionalProperties: false,
  });
  return {
    description:
      "A permission that the key must have, or a group: all (`and`) or at least one (`or`) of its members must hold; " +
      "at most 16 levels deep and 1,000 names and groups.",
    oneOf: [{ type: "string", minLength: 1, maxLength: 512 }, group("and"), group("or")],
  };
}
