import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../index.js";
import { OPERATIONS } from "../operations.js";
import { FIELD_NOTES, PARAMETER_NOTES } from "./field-notes.js";
import { refusalsOf } from "./refusals.js";

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it expects there
const document: any = openApiDocument();

const described = (name: string) => {
  const [operation] = Object.values(document.paths[`/v1/${name}`]);
  // biome-ignore lint/suspicious/noExplicitAny: as above
  return operation as any;
};

/** Every `$ref` in a value. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, content]) =>
    name === "$ref" ? [String(content)] : referencesIn(content),
  );
}

/** Names of all members of schemas and of all parameters. */
function fieldsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { properties, parameters } = value as {
    properties?: object;
    parameters?: readonly { readonly name: string }[];
  };
  const named = Array.isArray(parameters) ? parameters.map(({ name }) => name) : [];
  return [
    ...Object.keys(properties ?? {}),
    ...named,
    ...Object.values(value).flatMap((content) => fieldsIn(content)),
  ];
}

test("is valid OpenAPI 3.1", async () => {
  expect(await new Validator().validate(openApiDocument() as never)).toEqual({ valid: true });
  expect(document.openapi).toBe("3.1.0");
});

test("the validator itself notices a planted mistake", async () => {
  const broken = { ...openApiDocument(), paths: { "/v1/x": { get: { responses: [] } } } };
  expect((await new Validator().validate(broken as never)).valid).toBe(false);
});

test("has every operation, under its own verb and by its own name, and nothing else", () => {
  expect(Object.keys(document.paths)).toEqual(OPERATIONS.map(({ name }) => `/v1/${name}`));
  for (const { name, method } of OPERATIONS) {
    expect(Object.keys(document.paths[`/v1/${name}`])).toEqual([method.toLowerCase()]);
    expect(described(name).operationId).toBe(name);
  }
});

test("refers to nothing that is not there", () => {
  for (const reference of referencesIn(document)) {
    const path = reference.replace("#/", "").split("/");
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const target = path.reduce((node: any, step) => node?.[step], document);
    expect(target, reference).toBeTypeOf("object");
  }
});

describe("examples", () => {
  test.each(OPERATIONS)("of $name are what it takes and what it answers", (operation) => {
    expect(operation.input.safeParse(operation.example.takes).error).toBeUndefined();
    expect(operation.answers.safeParse(operation.example.answers).error).toBeUndefined();
  });
});

test.each(OPERATIONS)("$name tells each of its refusals by status", (operation) => {
  const { responses } = described(operation.name);
  const codes = Object.keys(responses)
    .filter((status) => status !== "200")
    .flatMap((status) => {
      const name = responses[status].$ref.replace("#/components/responses/", "");
      const { schema } = document.components.responses[name].content["application/json"];
      return schema.properties.error.properties.code.enum;
    });
  expect(codes.toSorted()).toEqual(refusalsOf(operation).toSorted());
});

test("a root key is needed by all but the public operations", () => {
  expect(document.security).toEqual([{ rootKey: [] }]);
  for (const { name, isPublic } of OPERATIONS)
    expect(described(name).security, name).toEqual(isPublic === true ? [] : undefined);
});

test("the permissions that are needed stand in the description, in both forms", () => {
  expect(described("keys.createKey").description).toContain(
    "Needs `api.*.create_key` or `api.<apiId>.create_key`",
  );
  expect(described("apis.createApi").description).toContain("Needs `api.*.create_api`;");
  expect(described("liveness").description).toContain("Needs no root key.");
});

test("what a GET takes stands in its query, with whole numbers and booleans as such", () => {
  const { parameters, requestBody } = described("apis.listKeys");
  expect(requestBody).toBeUndefined();
  const byName = new Map(
    parameters.map((parameter: { name: string }) => [parameter.name, parameter]),
  );
  expect(byName.get("apiId")).toMatchObject({ in: "query", required: true });
  expect(byName.get("limit")).toMatchObject({
    required: false,
    schema: { type: "integer", minimum: 1, maximum: 100, default: 100 },
  });
  expect(byName.get("decrypt")).toMatchObject({ schema: { type: "boolean" } });
});

test("a field that is sent in a header stands there and not in the body", () => {
  const { parameters, requestBody } = described("keys.verifyKey");
  expect(parameters).toEqual([
    {
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description: expect.stringContaining("a retry"),
      schema: { type: "string", minLength: 1, maxLength: 128 },
    },
  ]);
  const { properties } = requestBody.content["application/json"].schema;
  expect(properties).not.toHaveProperty("requestId");
  expect(properties.key).toMatchObject({ type: "string", minLength: 1, maxLength: 512 });
});

test("bodies refuse unknown fields, as the service does", () => {
  const { schema } = described("keys.createKey").requestBody.content["application/json"];
  expect(schema).toMatchObject({ required: ["apiId"], additionalProperties: false });
});

test("what a field stands for is said where it occurs, and of no field that there is none of", () => {
  const fields = fieldsIn(document);
  for (const name of [...Object.keys(FIELD_NOTES), ...Object.keys(PARAMETER_NOTES)])
    expect(fields, name).toContain(name);
  const { properties } = document.components.schemas.Key;
  expect(properties.expires.description).toBe(FIELD_NOTES.expires);
});

test("baseUrl is what the paths follow on; without it they follow on the host", () => {
  expect(openApiDocument().servers).toEqual([{ url: "/" }]);
  expect(openApiDocument({ baseUrl: "/internal/keys" }).servers).toEqual([
    { url: "/internal/keys" },
  ]);
  expect(() => openApiDocument({ baseUrl: "/keys/" })).toThrow(
    new TypeError('"baseUrl" must be a string without a slash at its end'),
  );
});

test("is a new object each time, so that a caller may change it", () => {
  const first = openApiDocument();
  Object.assign(first.paths["/v1/liveness"] as object, { get: null });
  expect(openApiDocument()).toEqual(document);
});
