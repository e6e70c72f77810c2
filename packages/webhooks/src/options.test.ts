import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { createWebhooks } from "./index.js";
import type { WebhookOptions } from "./options.js";

const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;
const ENDPOINT = { url: "https://hooks.example/in", types: ["key.created"], secret: secretOf(32) };
const latchkey = createLatchkey({ store: memoryStore() });

const make = (options: unknown) => createWebhooks(latchkey, options as WebhookOptions);
const withEndpoint = (change: object) => ({ endpoints: [{ ...ENDPOINT, ...change }] });

const URL_ERROR =
  "must be an http or https URL of at most 2048 characters, without a user, a password or a fragment";
const SECRET_ERROR = '"endpoints[0].secret" must be whsec_ followed by 24 to 64 bytes in base64';
const RANGE_ERROR = "must be an IPv4 or IPv6 address, or a CIDR range";

describe("createWebhooks takes", () => {
  test.each([
    ["the least", { endpoints: [ENDPOINT] }],
    ["several secrets", withEndpoint({ secret: [secretOf(24), secretOf(64)] })],
    ["ranges", withEndpoint({ allow: ["127.0.0.0/8", "::1", "10.1.2.3"] })],
    ["options that are undefined", { ...withEndpoint({ allow: undefined }), leaseMs: undefined }],
    [
      "the least spans",
      {
        endpoints: [ENDPOINT],
        retryForMs: 1,
        firstRetryMs: 1,
        timeoutMs: 1,
        leaseMs: 100,
        deadLettersForMs: 3_600_000,
        maxDeadLetters: 1,
      },
    ],
    [
      "the longest spans",
      {
        endpoints: [ENDPOINT],
        retryForMs: 2_592_000_000,
        firstRetryMs: 3_600_000,
        timeoutMs: 60_000,
        leaseMs: 3_600_000,
        deadLettersForMs: 315_360_000_000,
        maxDeadLetters: 100_000,
      },
    ],
  ])("%s", (_, options) => {
    expect(Object.keys(make(options))).toEqual([
      "start",
      "stop",
      "listDeadLetters",
      "redeliver",
      "pruneDeadLetters",
    ]);
  });
});

describe("createWebhooks refuses", () => {
  test.each<readonly [string, unknown, string]>([
    ["no options", undefined, '"options" must be an object'],
    ["a list of options", [], '"options" must be an object'],
    [
      "an unknown option",
      { endpoints: [ENDPOINT], retries: 3 },
      '"retries" is not an option of createWebhooks',
    ],
    ["no endpoints", {}, '"endpoints" must be a list of 1 to 100 endpoints'],
    [
      "an empty list of endpoints",
      { endpoints: [] },
      '"endpoints" must be a list of 1 to 100 endpoints',
    ],
    [
      "too many",
      { endpoints: Array(101).fill(ENDPOINT) },
      '"endpoints" must be a list of 1 to 100 endpoints',
    ],
    ["a hole", { endpoints: Array(1) }, '"endpoints[0]" must be an object'],
    ["a null", { endpoints: [null] }, '"endpoints[0]" must be an object'],
    [
      "an unknown field",
      withEndpoint({ headers: {} }),
      '"headers" is not an option of an endpoint',
    ],
    [
      "a field by another name",
      withEndpoint({ events: ["key.created"] }),
      '"events" is not an option of an endpoint: use "types"',
    ],
    [
      "the same URL twice",
      { endpoints: [ENDPOINT, { ...ENDPOINT, url: "HTTPS://hooks.example:443/in" }] },
      '"endpoints[1].url" must not be that of another endpoint',
    ],
    ["no URL", withEndpoint({ url: undefined }), `"endpoints[0].url" ${URL_ERROR}`],
    [
      "a URL without a scheme",
      withEndpoint({ url: "hooks.example" }),
      `"endpoints[0].url" ${URL_ERROR}`,
    ],
    [
      "a URL of another scheme",
      withEndpoint({ url: "ftp://hooks.example" }),
      `"endpoints[0].url" ${URL_ERROR}`,
    ],
    ["a file", withEndpoint({ url: "file:///etc/passwd" }), `"endpoints[0].url" ${URL_ERROR}`],
    [
      "a URL with a password",
      withEndpoint({ url: "https://a:b@hooks.example" }),
      `"endpoints[0].url" ${URL_ERROR}`,
    ],
    [
      "a URL with a fragment",
      withEndpoint({ url: "https://hooks.example#a" }),
      `"endpoints[0].url" ${URL_ERROR}`,
    ],
    [
      "a long URL",
      withEndpoint({ url: `https://hooks.example/${"a".repeat(2_048)}` }),
      `"endpoints[0].url" ${URL_ERROR}`,
    ],
    ["no types", withEndpoint({ types: undefined }), '"endpoints[0].types" must be a list of 1 to'],
    [
      "an empty list of types",
      withEndpoint({ types: [] }),
      '"endpoints[0].types" must be a list of 1 to',
    ],
    [
      "an unknown type",
      withEndpoint({ types: ["key.created", "key.verified"] }),
      '"endpoints[0].types[1]" must be a type of event, such as key.created',
    ],
    [
      "no secret",
      withEndpoint({ secret: undefined }),
      '"endpoints[0].secret" must be a list of 1 to 5 secrets',
    ],
    [
      "no secrets",
      withEndpoint({ secret: [] }),
      '"endpoints[0].secret" must be a list of 1 to 5 secrets',
    ],
    [
      "too many secrets",
      withEndpoint({ secret: Array(6).fill(secretOf(32)) }),
      '"endpoints[0].secret" must be a list of 1 to 5 secrets',
    ],
    [
      "a secret without its beginning",
      withEndpoint({ secret: secretOf(32).slice(6) }),
      SECRET_ERROR,
    ],
    [
      "a secret that is no base64",
      withEndpoint({ secret: `whsec_${"!".repeat(32)}` }),
      SECRET_ERROR,
    ],
    [
      "a secret of a wrong length of base64",
      withEndpoint({ secret: `whsec_${"A".repeat(33)}` }),
      SECRET_ERROR,
    ],
    ["a short secret", withEndpoint({ secret: secretOf(23) }), SECRET_ERROR],
    ["a long secret", withEndpoint({ secret: secretOf(65) }), SECRET_ERROR],
    ["a number for a secret", withEndpoint({ secret: [7] }), SECRET_ERROR],
    [
      "ranges that are no list",
      withEndpoint({ allow: "127.0.0.0/8" }),
      '"endpoints[0].allow" must be a list of 0 to 100 addresses and ranges',
    ],
    ["no range", withEndpoint({ allow: ["localhost"] }), `"endpoints[0].allow[0]" ${RANGE_ERROR}`],
    [
      "a range with more bits than it says",
      withEndpoint({ allow: ["127.0.0.1/8"] }),
      `"endpoints[0].allow[0]" ${RANGE_ERROR}`,
    ],
    [
      "no time to retry",
      { endpoints: [ENDPOINT], retryForMs: 0 },
      '"retryForMs" must be a whole number from 1 to 2592000000',
    ],
    [
      "31 days",
      { endpoints: [ENDPOINT], retryForMs: 31 * 86_400_000 },
      '"retryForMs" must be a whole number from 1 to 2592000000',
    ],
    [
      "dead letters of minutes",
      { endpoints: [ENDPOINT], deadLettersForMs: 60_000 },
      '"deadLettersForMs" must be a whole number from 3600000 to 315360000000',
    ],
    [
      "no dead letters",
      { endpoints: [ENDPOINT], maxDeadLetters: 0 },
      '"maxDeadLetters" must be a whole number from 1 to 100000',
    ],
    [
      "a fraction",
      { endpoints: [ENDPOINT], firstRetryMs: 1.5 },
      '"firstRetryMs" must be a whole number from 1 to 3600000',
    ],
    [
      "a text",
      { endpoints: [ENDPOINT], timeoutMs: "15s" },
      '"timeoutMs" must be a whole number from 1 to 60000',
    ],
    [
      "a null span",
      { endpoints: [ENDPOINT], leaseMs: null },
      '"leaseMs" must be a whole number from 100 to 3600000',
    ],
    [
      "a short lease",
      { endpoints: [ENDPOINT], leaseMs: 99 },
      '"leaseMs" must be a whole number from 100 to 3600000',
    ],
  ])("%s", (_, options, message) => {
    expect(() => make(options)).toThrow(TypeError);
    expect(() => make(options)).toThrow(message);
  });

  test("anything that is not a latchkey", () => {
    for (const one of [undefined, null, {}, { workspaceId: "ws_default" }])
      expect(() => createWebhooks(one as never, { endpoints: [] })).toThrow(
        '"latchkey" must be the object that createLatchkey returns',
      );
  });

  test("and repeats neither a URL nor a secret in the error", () => {
    const secret = "whsec_dGVzdA==";
    const url = "https://user:token-of-the-operator@hooks.example";
    for (const change of [{ secret }, { url }])
      try {
        make(withEndpoint(change));
        expect.unreachable();
      } catch (error) {
        expect(String(error)).not.toMatch(/dGVzdA|token-of/);
      }
  });
});
