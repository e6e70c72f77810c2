import type { Operation } from "../operations/operation.js";
import { FORM_MEDIA } from "../request/http-request.js";
import { IDEMPOTENCY_KEY } from "../request/repeat.js";
import type { Contract } from "../routing/contract.js";
import type { Components, JsonSchema } from "./components.js";
import { errorResponses } from "./error-responses.js";
import { toJsonSchema } from "./json-schema.js";
import { permissionsText } from "./permissions-text.js";
import { familyOf } from "./tags.js";

/** One operation in the document. */
export function pathItemOf(
  contract: Contract,
  operation: Operation,
  components: Components,
  responses: Components,
): JsonSchema {
  const { name, method, summary, description, isPublic, isForm, example, response } = operation;
  // Notes and bounds by the name of an operation are v1's. Fields of other versions have only the notes and bounds by their own names.
  const owner = contract.version === "v1" ? name : `${contract.version} ${name}`;
  const { parameters, body } = inputOf(operation, owner, components);
  return {
    [method.toLowerCase()]: {
      operationId: name,
      tags: [familyOf(name)],
      summary,
      description: [description, permissionsText(operation)].filter(Boolean).join("\n\n"),
      ...(isPublic === true && { security: [] }),
      ...(parameters.length > 0 && { parameters }),
      ...(body !== null && {
        requestBody: {
          required: true,
          content: {
            [isForm === true ? FORM_MEDIA : "application/json"]: {
              schema: body,
              example: example.input,
            },
          },
        },
      }),
      responses: {
        "200": {
          description: "Done.",
          headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" } },
          content: {
            "application/json": {
              schema: toJsonSchema(response, "output", components, owner),
              example: example.response,
            },
          },
        },
        ...errorResponses(contract, operation, components, responses),
      },
    },
  };
}

/** The input of an operation, split by where its fields are sent. */
function inputOf(
  { method, input, headerFields = {}, queryTypes = {}, example, isRepeatable }: Operation,
  owner: string,
  components: Components,
): { readonly parameters: readonly JsonSchema[]; readonly body: JsonSchema | null } {
  const schema = toJsonSchema(input, "input", components, owner);
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = (schema.required ?? []) as readonly string[];
  const parameter = (field: string, location: "query" | "header", name: string) => {
    const { description, ...plain } = properties[field] ?? {};
    const value = (example.input as JsonSchema)[field];
    return {
      name,
      in: location,
      required: required.includes(field),
      ...(description !== undefined && { description }),
      // The items are separated by commas, instead of repeating the parameter.
      ...(queryTypes[field] === "list" && { style: "form", explode: false }),
      schema: withoutNull(plain),
      ...(value !== undefined && { example: value }),
    };
  };
  const inHeaders: JsonSchema[] = Object.entries(headerFields).map(([field, name]) =>
    parameter(field, "header", name),
  );
  if (isRepeatable) inHeaders.push(REPEATABLE);
  if (method === "GET") {
    const inQuery = Object.keys(properties)
      .filter((field) => !(field in headerFields))
      .map((field) => parameter(field, "query", field));
    return { parameters: [...inHeaders, ...inQuery], body: null };
  }
  const inBody = Object.entries(properties).filter(([field]) => !(field in headerFields));
  const body =
    Object.keys(headerFields).length === 0
      ? schema
      : { ...schema, properties: Object.fromEntries(inBody) };
  return { parameters: inHeaders, body };
}

/** The header of every write. */
const REPEATABLE: JsonSchema = {
  name: IDEMPOTENCY_KEY,
  in: "header",
  required: false,
  description:
    "Makes this safe to retry: for 24 hours, the same value with the same input from the same caller gets the same response, and " +
    "nothing is written. With another input it is a `CONFLICT`.",
  schema: { type: "string", minLength: 1, maxLength: 128 },
  example: "b7d4c1e0-6f5a-4c57-9a39-1f0d6a7e2c48",
};

/** A query has no null: a parameter is omitted instead. */
function withoutNull(schema: JsonSchema): JsonSchema {
  return Array.isArray(schema.type)
    ? { ...schema, type: schema.type.find((type) => type !== "null") }
    : schema;
}
