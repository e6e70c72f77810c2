import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../index.js";
import { OPERATIONS } from "../operations/table.js";
import { errorCodesOf } from "./error-responses.js";
import { FIELD_NOTES, noteOf } from "./field-notes.js";
import { NOTES_BY_PATH } from "./field-notes-by-path.js";

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

/** A field of a schema, or a parameter. */
interface Field {
  /** The shared schema or operation of the field, then the names of fields down to its own. */
  readonly path: readonly string[];
  /** Its type in JSON, without null. */
  readonly type: string;
  readonly description: string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function typeOf({ type, $ref, anyOf, oneOf }: any): string {
  const types = [type ?? $ref ?? (anyOf ?? oneOf)?.map(typeOf)].flat();
  return types.filter((name) => name !== "null").join(" or ");
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function fieldsIn(schema: any, path: readonly string[]): Field[] {
  if (typeof schema !== "object" || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((item) => fieldsIn(item, path));
  return Object.entries(schema).flatMap(([keyword, content]) => {
    if (keyword !== "properties") return fieldsIn(content, path);
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return Object.entries(content as any).flatMap(([name, field]: [string, any]) => [
      { path: [...path, name], type: typeOf(field), description: field.description },
      ...fieldsIn(field, [...path, name]),
    ]);
  });
}

function parametersOf(name: string): Field[] {
  const headers = OPERATIONS.find((operation) => operation.name === name)?.headerFields ?? {};
  const fieldOf = new Map(Object.entries(headers).map(([field, header]) => [header, field]));
  // biome-ignore lint/suspicious/noExplicitAny: as above
  return (described(name).parameters ?? []).map(({ name: sent, schema, description }: any) => ({
    path: [name, fieldOf.get(sent) ?? sent],
    type: typeOf(schema),
    description,
  }));
}

const fields: readonly Field[] = [
  ...Object.entries(document.components.schemas).flatMap(([id, schema]) => fieldsIn(schema, [id])),
  ...fieldsIn(document.components.responses, [""]),
  ...OPERATIONS.flatMap(({ name }) => [
    ...parametersOf(name),
    ...fieldsIn(Object.values(described(name).requestBody?.content ?? {}), [name]),
    ...fieldsIn(described(name).responses["200"].content["application/json"].schema, [name]),
  ]),
];

/** Fields with this name, which may include names before it, that are described by this note. */
function describedBy(name: string, note: string | undefined): readonly Field[] {
  return fields.filter(
    ({ path, description }) => description === note && `.${path.join(".")}`.endsWith(`.${name}`),
  );
}

test("is valid OpenAPI 3.1", async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  expect(document.openapi).toBe("3.1.0");
});

test("the validator itself notices a planted mistake", async () => {
  const broken = { ...structuredClone(document), paths: { "/v1/x": { get: { responses: [] } } } };
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test("has every operation, with its verb and its name, and nothing else", () => {
  expect(Object.keys(document.paths)).toEqual(OPERATIONS.map(({ name }) => `/v1/${name}`));
  for (const { name, method } of OPERATIONS) {
    expect(Object.keys(document.paths[`/v1/${name}`])).toEqual([method.toLowerCase()]);
    expect(described(name).operationId).toBe(name);
  }
});

test("has no broken reference", () => {
  for (const reference of referencesIn(document)) {
    const path = reference.replace("#/", "").split("/");
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const target = path.reduce((node: any, step) => node?.[step], document);
    expect(target, reference).toBeTypeOf("object");
  }
});

describe("examples", () => {
  test.each(OPERATIONS)("of $name are valid input and a valid response", (operation) => {
    expect(operation.input.safeParse(operation.example.input).error).toBeUndefined();
    expect(operation.response.safeParse(operation.example.response).error).toBeUndefined();
  });
});

test.each(OPERATIONS)("$name lists each of its error codes by status", (operation) => {
  const { responses } = described(operation.name);
  const codes = Object.keys(responses)
    .filter((status) => status !== "200")
    .flatMap((status) => {
      const name = responses[status].$ref.replace("#/components/responses/", "");
      const { schema } = document.components.responses[name].content["application/json"];
      expect(schema).toEqual({ $ref: `#/components/schemas/${name}Error` });
      return document.components.schemas[`${name}Error`].properties.error.properties.code.enum;
    });
  expect(codes.toSorted()).toEqual(errorCodesOf(operation).toSorted());
});

test("all operations except public ones need a root key", () => {
  expect(document.security).toEqual([{ rootKey: [] }]);
  for (const { name, isPublic } of OPERATIONS)
    expect(described(name).security, name).toEqual(isPublic === true ? [] : undefined);
});

test("the description names the required permissions in both forms", () => {
  expect(described("keys.createKey").description).toContain(
    "Needs `api.*.create_key` or `api.<apiId>.create_key`",
  );
  expect(described("apis.createApi").description).toContain("Needs `api.*.create_api`;");
  expect(described("liveness").description).toContain("Needs no root key.");
});

test("the input of a GET is in its query, with whole numbers and booleans as such", () => {
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

test("a field that is sent in a header is a header parameter, and not in the body", () => {
  const { parameters, requestBody } = described("keys.verifyKey");
  expect(parameters).toEqual([
    {
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description: expect.stringContaining("a retry"),
      schema: { type: "string", minLength: 1, maxLength: 128, pattern: "^[^\\x00]*$" },
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

describe("the description of a field", () => {
  test("is used somewhere: every note belongs to a field", () => {
    for (const [name, note] of Object.entries({ ...FIELD_NOTES, ...NOTES_BY_PATH }))
      expect(describedBy(name, note), name).not.toEqual([]);
  });

  test("depends on the name alone only if every field of that name has one type", () => {
    for (const [name, note] of Object.entries(FIELD_NOTES)) {
      const types = new Set(describedBy(name, note).map(({ type }) => type));
      expect([...types], name).toHaveLength(1);
    }
  });

  test("is the note of the longest matching path: in this schema, else in any, else of the name", () => {
    expect(noteOf(["keys.verifyKey", "remaining", "cost"])).toBe(
      NOTES_BY_PATH["keys.verifyKey.remaining.cost"],
    );
    expect(noteOf(["keys.createKey", "ratelimit", "type"])).toBe(NOTES_BY_PATH["ratelimit.type"]);
    expect(noteOf(["NewSchema", "expires"])).toBe(FIELD_NOTES.expires);
    expect(noteOf(["NewSchema", "type"])).toBeUndefined();
    expect(noteOf(["NewSchema", "constructor"])).toBeUndefined();
  });

  test.each([
    ["AuditEvent.type", "What changed, and how."],
    ["AuditEvent.changes.before", "Value before the change; absent if it had none."],
    ["VerificationBucket.success", "Number of `VALID` verdicts."],
    ["ratelimits.limit.success", "Whether the limit admits it. If false, nothing was taken."],
    ["Role.permissions", "Names of the permissions of the role."],
    ["Key.permissions", "Names of all permissions of the key, direct and through roles."],
    ["HeldPermissions.permissions", expect.stringContaining("not those through roles")],
    ["keys.addRoles.roles", expect.stringContaining("objects with `id` or `name`")],
    ["identities.listIdentities.environment", "Accepted, without effect."],
    ["ratelimits.limit.async", "Accepted, without effect: every limit is exact."],
    ["ratelimits.limit.meta", "Accepted, without effect."],
    ["ratelimits.limit.resources", "Accepted, without effect."],
    ["apis.listKeys.limit", "Largest number of items on the page."],
    ["keys.updateKey.expires", expect.stringContaining("`null` for never")],
  ])("%s: %s", (name, note) => {
    const found = fields.filter(({ path }) => path.join(".") === name);
    expect(found.map(({ description }) => description)).toEqual(found.map(() => note));
    expect(found).not.toEqual([]);
  });
});

test("baseUrl precedes the paths; without it they follow the host", () => {
  expect(document.servers).toEqual([{ url: "/" }]);
  expect(openApiDocument({ baseUrl: "/internal/keys" }).servers).toEqual([
    { url: "/internal/keys" },
  ]);
  expect(() => openApiDocument({ baseUrl: "/keys/" })).toThrow(
    new TypeError('"baseUrl" must be a string without a slash at its end'),
  );
});

test("is a new object each time, so that a caller can change it", () => {
  const first = openApiDocument();
  Object.assign(first.paths["/v1/liveness"] as object, { get: null });
  expect(openApiDocument()).toEqual(document);
});
