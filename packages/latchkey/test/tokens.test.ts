import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLatchkey, type Latchkey } from "@latchkey/core";
import { createHandler, toNodeListener } from "@latchkey/http";
import { memoryStore } from "@latchkey/memory";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  jwtVerify,
} from "jose";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeOnMemoryOrAll } from "./every-store.js";
import {
  describeOnMemory,
  expectRefused,
  HOUR_MS,
  issue,
  NOON,
  rejectionOf,
  VAULT_KEYS,
} from "./test-context.js";

const AUDIENCE = "https://tides.example";
const [SEED, OTHER_SEED] = VAULT_KEYS;
const tokens = { current: "a", keys: { a: SEED } };
const WITH_TOKENS = { tokens };

/** The token of a verdict that must be `VALID`. */
async function tokenOf(latchkey: Latchkey, key: string, fields: object = {}) {
  const verdict = await latchkey.exchangeKey({ key, audience: AUDIENCE, ...fields });
  if (verdict.code !== "VALID") throw new Error(verdict.code);
  return verdict;
}

async function check(latchkey: Latchkey, token: string, options: object = {}) {
  const keys = createLocalJWKSet(await latchkey.jwks());
  const currentDate = new Date(latchkey.now());
  return jwtVerify(token, keys, { audience: AUDIENCE, currentDate, ...options });
}

describeOnMemoryOrAll("exchangeKey", (open) => {
  test("returns the verdict of verifyKey, and a token that jose accepts", async () => {
    const context = open(WITH_TOKENS);
    const { latchkey } = context;
    await latchkey.createPermission({ name: "docs.read" });
    const { key, keyId } = await issue(context, {
      externalId: "pier-7",
      remaining: 1,
      permissions: ["docs.read"],
    });
    const { token, tokenExpiresAt, ...verdict } = await tokenOf(latchkey, key);
    expect(verdict).toMatchObject({ valid: true, keyId, remaining: 0 });
    expect(tokenExpiresAt).toBe(NOON + 300_000);
    const { payload } = await check(latchkey, token, { issuer: latchkey.workspaceId });
    expect(payload).toEqual({
      iss: latchkey.workspaceId,
      sub: (await latchkey.getIdentity({ externalId: "pier-7" })).id,
      aud: AUDIENCE,
      client_id: keyId,
      scope: "docs.read",
      iat: NOON / 1_000,
      exp: NOON / 1_000 + 300,
    });
    const refused = await latchkey.exchangeKey({ key, audience: AUDIENCE });
    expect(refused).toEqual(await latchkey.verifyKey({ key }));
    expect(refused).not.toHaveProperty("token");
  });
});

describeOnMemory("exchangeKey", (open) => {
  test("returns the answer of verifyKey without a token to a refused key", async () => {
    const context = open(WITH_TOKENS);
    const { latchkey } = context;
    const { apiId, key, keyId } = await issue(context, {
      ratelimit: { limit: 1, duration: HOUR_MS },
    });
    const off = await latchkey.createKey({ apiId, enabled: false });
    await tokenOf(latchkey, key);
    const questions = [
      { key },
      { key: off.key },
      { key: "sk_nobody" },
      { key, apiId: "api_other" },
      { key, authorization: { permissions: "docs.read" } },
    ];
    for (const question of questions) {
      const verdict = await latchkey.exchangeKey({ ...question, audience: AUDIENCE });
      expect(verdict).toEqual(await latchkey.verifyKey(question));
      expect(verdict.valid).toBe(false);
    }
    await latchkey.deleteKey({ keyId });
    const gone = await latchkey.exchangeKey({ key, audience: AUDIENCE });
    expect(gone).toEqual({ valid: false, code: "NOT_FOUND" });
  });

  test("a token is never valid for longer than its key, nor for more than 15 minutes", async () => {
    const context = open(WITH_TOKENS);
    const { latchkey, now } = context;
    const { apiId, key } = await issue(context);
    for (const [ttl, ms] of [
      [1_000, 1_000],
      [900_000, 900_000],
      ["15m", 900_000],
      ["30s", 30_000],
    ] as const)
      expect((await tokenOf(latchkey, key, { ttl })).tokenExpiresAt).toBe(now() + ms);
    for (const ttl of [0, 999, 900_001, "16m", "1h", -1, 1.5, null]) {
      const input = { key, audience: AUDIENCE, ttl: ttl as number };
      const error = await rejectionOf(latchkey.exchangeKey(input));
      expect(error).toMatchObject({ code: "BAD_REQUEST", issues: [{ path: "ttl" }] });
      expect(error.message).toContain(
        'from 1,000 to 900,000 ms: whole ms, or a text such as "30s" or "5m"',
      );
    }
    const dying = await latchkey.createKey({ apiId, expires: now() + 61_999 });
    const { token, tokenExpiresAt } = await tokenOf(latchkey, dying.key, { ttl: "15m" });
    expect(tokenExpiresAt).toBe(now() + 61_000);
    expect(decodeJwt(token).exp).toBe((now() + 61_000) / 1_000);
    context.advance(61_000);
    await expect(check(latchkey, token)).rejects.toMatchObject({ code: "ERR_JWT_EXPIRED" });
  });

  test("jose refuses another audience, another issuer, another key and a changed token", async () => {
    const context = open({ tokens: { ...tokens, issuer: "https://keys.example" } });
    const { latchkey } = context;
    const { key, keyId } = await issue(context);
    const { token } = await tokenOf(latchkey, key);
    const { payload } = await check(latchkey, token, { issuer: "https://keys.example" });
    expect(payload).toMatchObject({ sub: keyId, client_id: keyId });
    expect(payload).not.toHaveProperty("scope");
    for (const wrong of [{ audience: "https://gates.example" }, { issuer: "ws_default" }])
      await expect(check(latchkey, token, wrong)).rejects.toThrow();
    const other = createLatchkey({
      store: memoryStore(),
      tokens: { current: "a", keys: { a: OTHER_SEED } },
    });
    await expect(check(other, token)).rejects.toThrow("signature");
    const [head, , signature] = token.split(".");
    const forged = Buffer.from(JSON.stringify({ ...payload, sub: "id_other" })).toString(
      "base64url",
    );
    await expect(check(latchkey, `${head}.${forged}.${signature}`)).rejects.toThrow("signature");
  });

  test("a ring can be rotated, and tokens of both keys are valid as long as both are published", async () => {
    const context = open(WITH_TOKENS);
    const { key } = await issue(context);
    const first = await tokenOf(context.latchkey, key);
    const keys = { a: SEED, b: OTHER_SEED };
    const published = context.another({ tokens: { current: "a", keys } });
    const turned = context.another({ tokens: { current: "b", keys } });
    const second = await tokenOf(turned, key);
    expect(decodeProtectedHeader(second.token)).toEqual({ alg: "EdDSA", kid: "b", typ: "JWT" });
    for (const { token } of [first, second]) await check(published, token);
    const over = context.another({ tokens: { current: "b", keys: { b: OTHER_SEED } } });
    await expect(check(over, first.token)).rejects.toMatchObject({
      code: "ERR_JWKS_NO_MATCHING_KEY",
    });
  });

  test("without token keys it is refused before anything is taken", async () => {
    const context = open();
    const { key } = await issue(context, { remaining: 1 });
    const calls = [
      context.latchkey.exchangeKey({ key, audience: AUDIENCE }),
      context.latchkey.jwks(),
    ];
    for (const error of await Promise.all(calls.map(rejectionOf)))
      expect(error).toMatchObject({ code: "PRECONDITION_FAILED", reason: "no-token-keys" });
    expect((await context.latchkey.verifyKey({ key })).valid).toBe(true);
  });

  test("a missing audience, one that is too long and a dry run are refused by name", async () => {
    const context = open(WITH_TOKENS);
    const { key } = await issue(context);
    await expectRefused("BAD_REQUEST", [
      context.latchkey.exchangeKey({ key } as never),
      context.latchkey.exchangeKey({ key, audience: "" }),
      context.latchkey.exchangeKey({ key, audience: "a".repeat(257) }),
      context.latchkey.exchangeKey({ key, audience: AUDIENCE, dryRun: true } as never),
    ]);
  });

  test("neither tokens nor seeds are emitted, logged or stored", async () => {
    const events: unknown[] = [];
    const context = open({ ...WITH_TOKENS, onEvent: (event) => events.push(event) });
    const { key } = await issue(context);
    const { token } = await tokenOf(context.latchkey, key);
    const log = await context.latchkey.listAuditEvents();
    const text = JSON.stringify([events, log]);
    for (const secret of [token, token.split(".")[2] ?? "", key])
      expect(text).not.toContain(secret);
  });
});

describe("jwks.json", () => {
  test("is public, cacheable, has only public members, and can be fetched by jose", async () => {
    const latchkey = createLatchkey({ store: memoryStore(), tokens });
    const server = createServer(toNodeListener(createHandler({ latchkey })));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const url = new URL(`http://127.0.0.1:${port}/v1/jwks.json`);
    const response = await fetch(url);
    expect([response.status, response.headers.get("cache-control")]).toEqual([
      200,
      "public, max-age=300",
    ]);
    const { keys } = (await response.json()) as { keys: object[] };
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([
      ["alg", "crv", "kid", "kty", "use", "x"],
    ]);
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key } = await latchkey.createKey({ apiId });
    const { token } = await tokenOf(latchkey, key);
    const remote = createRemoteJWKSet(url);
    const { payload } = await jwtVerify(token, remote, { audience: AUDIENCE });
    expect(payload.iss).toBe(latchkey.workspaceId);
  });
});

test("invalid rings are refused by name", () => {
  const store = memoryStore();
  const make = (ring: unknown) => () => createLatchkey({ store, tokens: ring as typeof tokens });
  expect(make({ current: "b", keys: { a: SEED } })).toThrow('"tokens.current"');
  expect(make({ current: "a", keys: { a: SEED.subarray(1) } })).toThrow(
    '"tokens.keys.a" must be 32 bytes',
  );
  expect(make("a")).toThrow('"tokens" must be a key ring');
  expect(make({ ...tokens, issuer: "" })).toThrow('"tokens.issuer"');
  expect(() => createLatchkey({ store, tokens, vault: tokens })).toThrow(
    '"vault" and "tokens" must not contain the same secret',
  );
});
