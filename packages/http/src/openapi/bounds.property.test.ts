import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { API_ID, IDENTITY_ID, KEY_ID } from "../operations/examples.js";
import type { Operation } from "../operations/operation.js";
import { OPERATIONS } from "../operations/table.js";
import { FORM_MEDIA } from "../request/http-request.js";
import { BOUNDS_BEYOND_SCHEMAS } from "../testing/bounds-beyond-schemas.js";
import { inputsOf, type Schema } from "../testing/input-arbitrary.js";
import { openService, type TestService } from "../testing/open-service.js";
import { openApiDocument } from "./document.js";

const document = openApiDocument();
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, "document");

type Node = { readonly [member: string]: Node };
const root = document as unknown as Node;

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

const mediaOf = ({ isForm }: Operation) => (isForm === true ? FORM_MEDIA : "application/json");

function pathOf({ name, method }: Operation): string {
  return `/paths/~1v1~1${name}/${method.toLowerCase()}`;
}

function at(pointer: string): Schema {
  const steps = pointer.split("/").slice(1);
  return steps.reduce<Node>(
    (node, step) => node[step.replaceAll("~1", "/")] as Node,
    root,
  ) as unknown as Schema;
}

const resolve = (reference: string) => at(reference.replace("#", ""));

/** The schema of the body, or of an object with the parameters. */
function inputSchema(operation: Operation): {
  readonly schema: Schema;
  validate: ValidateFunction;
} {
  if (operation.method === "POST") {
    const pointer = `${pathOf(operation)}/requestBody/content/${mediaOf(operation).replaceAll("/", "~1")}/schema`;
    return { schema: at(pointer), validate: compiled(`document#${pointer}`) };
  }
  const { parameters = [] } = at(pathOf(operation)) as { parameters?: readonly Parameter[] };
  const schema = {
    type: "object",
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.flatMap(({ name, required }) => (required ? [name] : [])),
    additionalProperties: false,
  } as unknown as Schema;
  return { schema, validate: ajv.compile(schema) };
}

function compiled(id: string): ValidateFunction {
  const validate = ajv.getSchema(id);
  if (validate === undefined) throw new Error(`the document has nothing at ${id}`);
  return validate as ValidateFunction;
}

/** A service whose callers hold these permissions. */
function serviceFor(...permissions: string[]) {
  const authenticate = () => ({ workspaceId: "ws_default", permissions });
  return openService({ authenticate, maxBodyBytes: 16_000_000 });
}

/** Without permissions, a valid input is refused with 403 before anything is done; every input is checked as always. */
const forNobody = await serviceFor();
const forEveryone = await serviceFor("*");

type Issue = { readonly path: string; readonly message: string };

/** The issues of an input: none if the server accepts it. */
async function issuesOf(
  { handler }: TestService,
  operation: Operation,
  input: unknown,
): Promise<readonly Issue[]> {
  const { name, method, isForm } = operation;
  const isRead = method === "GET";
  const query = isRead ? `?${new URLSearchParams(textsOf(input))}` : "";
  const response = await handler(
    new Request(`http://keys.test/v1/${name}${query}`, {
      method,
      ...(!isRead && {
        body: isForm ? String(new URLSearchParams(textsOf(input))) : JSON.stringify(input),
        headers: { "content-type": mediaOf(operation) },
      }),
    }),
  );
  if (response.status !== 400) return [];
  const { error } = (await response.json()) as { error: { message: string; issues?: Issue[] } };
  return error.issues ?? [{ path: "", message: error.message }];
}

function textsOf(input: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(input as Record<string, unknown>).map(([name, value]) => [name, String(value)]),
  );
}

/** The server's message in place of the issues after the thousandth. */
const FURTHER_ISSUES = /^and \d+ more issues?$/;

function isBeyondSchemas({ name }: Operation, { message }: Issue): boolean {
  if (FURTHER_ISSUES.test(message)) return true;
  return BOUNDS_BEYOND_SCHEMAS.some(
    (bound) => bound.message === message && (bound.in === undefined || bound.in.includes(name)),
  );
}

const LIMIT = { name: "default", limit: 10, duration: 1_000, autoApply: true };

const KEY_RULES = {
  defaults: {
    expiresIn: "90d",
    remaining: 1,
    refill: { interval: "daily", amount: 1 },
    ratelimits: [LIMIT],
    permissions: ["docs.read"],
  },
  ceilings: { maxExpiresIn: "90d", maxRatelimit: { limit: 10, duration: "1m" } },
};

/** Examples with fields that exclude those of the documented one, or that need others. */
const FURTHER_EXAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  "apis.createApi": [{ name: "payments", ...KEY_RULES }],
  "apis.updateApi": [
    { apiId: API_ID, ...KEY_RULES },
    { apiId: API_ID, defaults: null, ceilings: null },
  ],
  "keys.createKey": [
    { apiId: API_ID, ratelimits: [LIMIT] },
    { apiId: API_ID, remaining: 1, refill: { interval: "weekly", amount: 1, refillDay: 7 } },
    { apiId: API_ID, remaining: 1, refill: { interval: { every: 60_000 }, amount: 1 } },
  ],
  "keys.updateKey": [{ keyId: KEY_ID, ratelimits: [LIMIT] }],
  "keys.updateRemaining": [
    { identityId: IDENTITY_ID, op: "set", value: null },
    { externalId: "user_1", op: "decrement", value: 1 },
  ],
  "ratelimits.resetLimit": [
    { keyId: KEY_ID, name: "default", duration: 1_000 },
    { identityId: IDENTITY_ID, name: "requests" },
    { namespace: "mail", identifier: "user_1", duration: 1_000 },
  ],
  "migrations.createKeys": [
    [{ apiId: API_ID, plaintext: "sk_live_1234567890" }],
    [{ apiId: API_ID, plaintext: "sk_live_1234567890", ratelimits: [LIMIT] }],
  ],
};

/** Inputs that only the document accepts, and that are rarely generated. */
const SELDOM: Readonly<Record<string, readonly unknown[]>> = {
  "migrations.createKeys": [
    [{ apiId: API_ID, plaintext: "sk_1", ipWhitelist: Array(1_000).fill("Aa"), start: "other" }],
  ],
};

const WITH_INPUT = OPERATIONS.filter(
  (operation) => Object.keys(inputSchema(operation).schema.properties ?? { items: 0 }).length > 0,
);

describe("the document accepts and refuses the same inputs as the server", () => {
  test.each(WITH_INPUT)("$name", async (operation) => {
    const { schema, validate } = inputSchema(operation);
    const examples = [operation.example.input, ...(FURTHER_EXAMPLES[operation.name] ?? [])];

    /** Whether the server accepts an input, once the document is known to agree. */
    async function isAccepted(input: unknown): Promise<boolean> {
      const isDocumented = validate(input);
      const issues = await issuesOf(forNobody, operation, input);
      // The document may only accept more, and only where no schema can express the bound.
      const hasReason = isDocumented && issues.every((issue) => isBeyondSchemas(operation, issue));
      if (isDocumented !== (issues.length === 0) && !hasReason)
        expect({ input, refusedByDocument: validate.errors }).toEqual({ input, issues });
      return issues.length === 0;
    }

    for (const example of examples) {
      expect(await isAccepted(example)).toBe(true);
      expect(await isAccepted(withStrayField(example))).toBe(false);
    }
    for (const input of SELDOM[operation.name] ?? []) await isAccepted(input);
    const inputs = inputsOf(schema, resolve, examples)
      .map((input): unknown => JSON.parse(JSON.stringify(input)))
      .filter(
        (input) => (operation.method === "POST" && !operation.isForm) || isQuery(input, schema),
      );
    const fields = Object.keys(schema.properties ?? schema.items?.properties ?? {}).length;
    await fc.assert(
      fc.asyncProperty(inputs, async (input) => void (await isAccepted(input))),
      {
        numRuns: (20 + 10 * fields) * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1"),
      },
    );
  });
});

function withStrayField(example: unknown): unknown {
  const [first] = Array.isArray(example) ? example : [example];
  const stray = { ...(first as object), stray: "x" };
  return Array.isArray(example) ? [stray] : stray;
}

/** A query or a form has texts, numbers and booleans, each where the document has that type. */
function isQuery(input: unknown, { properties = {} }: Schema): boolean {
  return (
    typeof input === "object" &&
    input !== null &&
    !Array.isArray(input) &&
    Object.entries(input).every(([name, value]) => {
      const type = properties[name]?.type ?? "string";
      return type === "integer" ? typeof value === "number" : typeof value === type;
    })
  );
}

const NOT_BY_ITSELF = { ...LIMIT, autoApply: false };
const REFILL = { interval: "daily", amount: 1 };
const WEEKLY_ON_DAY_8 = { interval: "weekly", amount: 1, refillDay: 8 };
const EACH_SECOND = { interval: { every: 1_000 }, amount: 1 };

describe("both refuse", () => {
  test.each([
    ["keys.createKey", { apiId: API_ID, prefix: "ends_with_" }],
    ["keys.createKey", { apiId: API_ID, prefix: "seventeen-letters" }],
    ["keys.createKey", { apiId: API_ID, refill: REFILL }],
    ["keys.createKey", { apiId: API_ID, remaining: 1, refill: { ...REFILL, refillDay: 1 } }],
    ["keys.createKey", { apiId: API_ID, remaining: 1, refill: WEEKLY_ON_DAY_8 }],
    ["keys.createKey", { apiId: API_ID, remaining: 1, refill: EACH_SECOND }],
    ["keys.createKey", { apiId: API_ID, ratelimits: [NOT_BY_ITSELF] }],
    ["keys.createKey", { apiId: API_ID, ratelimits: [LIMIT], ratelimit: LIMIT }],
    ["keys.createKey", { apiId: API_ID, usesFrom: "identity" }],
    ["keys.createKey", { apiId: API_ID, usesFrom: "identity", ownerId: "u", remaining: 1 }],
    ["keys.updateKey", { keyId: KEY_ID, ratelimits: [NOT_BY_ITSELF] }],
    ["keys.updateKey", { keyId: KEY_ID, ratelimits: [LIMIT], ratelimit: null }],
    ["keys.updateKey", { keyId: KEY_ID, roles: [{ create: true }] }],
    ["keys.updateRemaining", { keyId: KEY_ID, op: "increment", value: null }],
    ["keys.updateRemaining", { op: "set", value: 1 }],
    ["keys.updateRemaining", { keyId: KEY_ID, externalId: "user_1", op: "set", value: 1 }],
    ["keys.updateRemaining", { identityId: IDENTITY_ID, externalId: "u", op: "set", value: 1 }],
    ["keys.verifyKey", { key: "x", ratelimits: [{ name: "a", limit: 1 }] }],
    ["identities.updateIdentity", { meta: {} }],
    ["identities.updateIdentity", { externalId: "u", meta: { a: [{ constructor: 1 }] } }],
    ["ratelimits.resetLimit", { keyId: KEY_ID }],
    ["ratelimits.resetLimit", { keyId: KEY_ID, identityId: IDENTITY_ID, name: "default" }],
    ["ratelimits.resetLimit", { identityId: IDENTITY_ID, name: "requests", duration: 1_000 }],
    ["ratelimits.resetLimit", { namespace: "mail", identifier: "user_1" }],
    ["migrations.createKeys", [{ apiId: API_ID }]],
    ["migrations.createKeys", [{ apiId: API_ID, plaintext: "é" }]],
    ["migrations.createKeys", [{ apiId: API_ID, plaintext: "sk_1", ratelimits: [NOT_BY_ITSELF] }]],
  ])("%s %j", async (name, input) => {
    const operation = OPERATIONS.find((one) => one.name === name) as Operation;
    expect(inputSchema(operation).validate(input)).toBe(false);
    expect(await issuesOf(forNobody, operation, input)).not.toEqual([]);
  });
});

describe("a bound that no schema can express", () => {
  test.each(BOUNDS_BEYOND_SCHEMAS)("$message: $reason", async ({ example, message }) => {
    const operation = OPERATIONS.find(({ name }) => name === example.operation) as Operation;
    const input: unknown = JSON.parse(JSON.stringify(example.input));
    expect(inputSchema(operation).validate(input)).toBe(true);
    expect((await issuesOf(forEveryone, operation, input)).map((issue) => issue.message)).toEqual([
      message,
    ]);
  });
});
