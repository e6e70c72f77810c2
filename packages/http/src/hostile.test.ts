import { describe, expect, test } from "vitest";
import { openService } from "./testing/open-service.js";

/** With this size, an algorithm of quadratic time takes an hour, a linear one a tenth of a second. */
const SIZE = 2_000_000;
const MANY = SIZE / 10;

/** A service that accepts bodies of this size, so that the code behind the bound on bodies is tested as well. */
const service = await openService({ maxBodyBytes: 2 * SIZE });
const { root } = service;

/** Processor time of a request in ms, and its response. */
async function send(request: Request) {
  const before = process.cpuUsage();
  const response = await service.handler(request);
  const text = await response.text();
  const { user, system } = process.cpuUsage(before);
  return { status: response.status, text, ms: (user + system) / 1_000 };
}

/** Processor time to read JSON of this size, in ms. */
function msOfJson(): number {
  const text = JSON.stringify(
    Array.from({ length: SIZE / 20 }, (_, at) => ({ name: `name ${at}` })),
  );
  const before = process.cpuUsage();
  JSON.parse(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const most = 20 * msOfJson() + 1_000;

function post(path: string, body: string, headers: Record<string, string> = {}): Request {
  return new Request(`http://keys.test${path}`, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${root}`, "content-type": "application/json", ...headers },
  });
}

const nested = (open: string, close: string, levels: number) =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;
const long = "x".repeat(SIZE);
const list = (item: unknown, count: number) => Array.from({ length: count }, () => item);
const numbered = (text: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${text}${at}`, 1]));

const [CREATE, VERIFY, IMPORT] = ["keys.createKey", "keys.verifyKey", "migrations.createKeys"];
const BOTH = [`/v1/${CREATE}`, `/v2/${CREATE}`];

/** Bodies, and the operations that they are sent to. Each is created when it is sent: all of them together are 50 MB. */
const BODIES: readonly (readonly [string, () => string, readonly string[]])[] = [
  ["lists in lists", () => nested("[", "]", SIZE / 2), [...BOTH, `/v1/${IMPORT}`]],
  ["objects in objects", () => nested('{"a":', "}", SIZE / 6), BOTH],
  ["a field of nested lists", () => `{"meta":${nested("[", "]", SIZE / 3)}}`, BOTH],
  ["brackets that nothing closes", () => "[".repeat(SIZE), BOTH],
  ["a text without end", () => `{"name":"${long}`, BOTH],
  ["backslashes", () => `{"name":"${"\\".repeat(SIZE)}"}`, BOTH],
  ["spaces", () => " ".repeat(SIZE), BOTH],
  ["a long text in a field", () => JSON.stringify({ name: long, apiId: "a" }), BOTH],
  ["a long name of a field", () => JSON.stringify({ [long]: 1 }), BOTH],
  ["many fields", () => JSON.stringify(numbered("x".repeat(100), SIZE / 110)), BOTH],
  ["one field again and again", () => `{${'"a":1,'.repeat(MANY)}"a":1}`, BOTH],
  ["many permissions", () => JSON.stringify({ permissions: list("docs.read", MANY) }), BOTH],
  ["many bad limits", () => JSON.stringify({ ratelimits: list({}, MANY) }), [`/v1/${VERIFY}`]],
  ["wide metadata", () => JSON.stringify({ meta: numbered("x".repeat(100), SIZE / 110) }), BOTH],
  [
    "a wide question",
    () => JSON.stringify({ key: "x", authorization: { permissions: { or: list("a", MANY) } } }),
    [`/v1/${VERIFY}`],
  ],
  [
    "a deep question",
    () => `{"key":"x","authorization":{"permissions":${nested('{"or":[', "]}", MANY)}}}`,
    [`/v1/${VERIFY}`],
  ],
  [
    "a query of parentheses",
    () => JSON.stringify({ key: "x", permissions: "(".repeat(SIZE) }),
    [`/v2/${VERIFY}`],
  ],
  [
    "a query of spaces",
    () => JSON.stringify({ key: "x", permissions: " ".repeat(SIZE) }),
    [`/v2/${VERIFY}`],
  ],
  [
    "many keys",
    () => JSON.stringify(list({ apiId: "a", plaintext: "b" }, SIZE / 50)),
    [`/v1/${IMPORT}`],
  ],
  [
    "many keys in a field",
    () => JSON.stringify({ migrationId: "m", apiId: "a", keys: list(1, MANY) }),
    ["/v2/keys.migrateKeys"],
  ],
  [
    "many limits",
    () => JSON.stringify(list({ namespace: "a" }, SIZE / 30)),
    ["/v2/ratelimit.multiLimit"],
  ],
  [
    "a long cursor",
    () => JSON.stringify({ cursor: "A".repeat(SIZE), apiId: "api_1" }),
    ["/v2/apis.listKeys", "/v2/permissions.listRoles"],
  ],
];

describe("a body of 2 MB", () => {
  test.each(BODIES)(
    "of %s is refused briefly, in the time of a reader",
    async (_name, made, paths) => {
      const body = made();
      for (const path of paths) {
        const { status, text, ms } = await send(post(path, body));
        expect([path, status]).toEqual([path, 400]);
        expect(text.length).toBeLessThan(1_000_000);
        expect(ms).toBeLessThan(most);
      }
    },
  );

  test("is not read at all with the default bound on bodies", async () => {
    const bounded = await openService();
    const authorization = `Bearer ${bounded.root}`;
    const response = await bounded.handler(post(`/v1/${CREATE}`, long, { authorization }));
    expect(response.status).toBe(413);
    expect(await response.text()).toContain("at most 65536 bytes");
  });
});

test("a query of parentheses within the bound on bodies is refused, too", async () => {
  const reply = await send(
    post(`/v2/${VERIFY}`, JSON.stringify({ key: "x", permissions: "(".repeat(60_000) })),
  );
  expect(reply.status).toBe(400);
  expect(reply.text).toContain("1 to 1000 characters");
});

describe("2 MB of an address", () => {
  const list = "/v1/apis.listKeys";
  test.each([
    ["a path", `/${"x".repeat(SIZE)}`, 404],
    ["slashes", "/".repeat(SIZE), 404],
    ["a path behind a known one", `${list}/${"x/".repeat(SIZE / 2)}`, 404],
    ["a cursor", `${list}?apiId=a&cursor=${"A".repeat(SIZE)}`, 400],
    ["one parameter", `${list}?${"x".repeat(SIZE)}`, 400],
    [
      "many parameters",
      `${list}?${Array.from({ length: SIZE / 20 }, (_, at) => `parameter${at}=1`).join("&")}`,
      400,
    ],
    ["one parameter again and again", `${list}?${"a=1&".repeat(SIZE / 4)}`, 400],
    ["ampersands", `${list}?${"&".repeat(SIZE)}`, 400],
    ["plus signs", `${list}?apiId=${"+".repeat(SIZE)}`, 400],
    ["percent signs", `${list}?${"%".repeat(SIZE)}`, 400],
    ["half an escape again and again", `${list}?apiId=${"%E0".repeat(SIZE / 3)}`, 400],
  ] as const)(
    "with %s is refused briefly, in the time of a reader",
    async (_name, path, status) => {
      const request = new Request(`http://keys.test${path}`, {
        headers: { authorization: `Bearer ${root}` },
      });
      const reply = await send(request);
      expect(reply.status).toBe(status);
      expect(reply.text.length).toBeLessThan(1_000_000);
      expect(reply.ms).toBeLessThan(most);
    },
  );
});

describe("2 MB of a header", () => {
  test.each([
    ["authorization", `Bearer ${long}`, 401],
    ["authorization", `Bearer${" ".repeat(SIZE)}x y`, 401],
    ["authorization", `Bearer x${"=".repeat(SIZE)}x`, 401],
    ["content-type", `application/json${" ".repeat(SIZE)}x`, 415],
    ["content-type", `application/json; charset=${long}`, 415],
    ["content-encoding", long, 415],
    ["content-length", "9".repeat(SIZE), 413],
  ])("%s is refused briefly, in the time of a reader", async (name, value, status) => {
    const { status: found, text, ms } = await send(post(`/v1/${CREATE}`, "{}", { [name]: value }));
    expect(found).toBe(status);
    expect(text.length).toBeLessThan(10_000);
    expect(ms).toBeLessThan(most);
  });

  test("in Idempotency-Key is refused by the name of the header", async () => {
    const { status, text } = await send(
      post(`/v1/${VERIFY}`, '{"key":"x"}', { "idempotency-key": long }),
    );
    expect([status, text.slice(0, 400)]).toEqual([400, expect.stringContaining("dempotency-")]);
  });
});
