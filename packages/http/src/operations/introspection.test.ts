import { describe, expect, test } from "vitest";
import { BY_HEADER } from "../testing/by-header.js";
import { openService, read, START, type TestService } from "../testing/open-service.js";

const FORM = "application/x-www-form-urlencoded";
const INACTIVE = '{"active":false}';

async function open(options: Parameters<typeof openService>[0] = {}) {
  const service = await openService(options);
  const { apiId } = await service.latchkey.createApi({ name: "payments" });
  const create = (fields: object = {}) => service.latchkey.createKey({ apiId, ...fields });
  return { service, apiId, create };
}

function post(
  service: TestService,
  body: string | Uint8Array<ArrayBuffer>,
  type: string = FORM,
  query = "",
) {
  const headers = { authorization: `Bearer ${service.root}`, "content-type": type };
  const url = `http://keys.test/v1/keys.introspect${query}`;
  return service.send(new Request(url, { method: "POST", body, headers })).then(read);
}

const ask = async (service: TestService, token: string) =>
  (await service.call("keys.introspect", { token })).text;

describe("keys.introspect", () => {
  test("returns the fields of RFC 7662 about a key", async () => {
    const { service, create } = await open();
    for (const name of ["docs.read", "docs.write"])
      await service.latchkey.createPermission({ name });
    const { key, keyId } = await create({
      externalId: "user_1",
      permissions: ["docs.read", "docs.write"],
      expires: START + 60_999,
    });
    service.advance(5_000);
    const { status, body, headers } = await service.call("keys.introspect", { token: key });
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(body).toEqual({
      active: true,
      scope: "docs.read docs.write",
      client_id: keyId,
      sub: "user_1",
      exp: Math.floor((START + 60_999) / 1_000),
      iat: Math.floor(START / 1_000),
      token_type: "api_key",
    });
  });

  test("leaves out fields that a key does not have, and ignores the hint", async () => {
    const { service, create } = await open();
    const { key, keyId } = await create();
    const body = `token_type_hint=access_token&token=${key}`;
    expect((await post(service, body, `${FORM};charset=UTF-8`)).body).toEqual({
      active: true,
      client_id: keyId,
      iat: Math.floor(START / 1_000),
      token_type: "api_key",
    });
  });

  test("returns only active: false for every verdict except VALID", async () => {
    const { service, apiId, create } = await open();
    const { latchkey } = service;
    const off = await create();
    await latchkey.updateKey({ keyId: off.keyId, enabled: false });
    const gone = await create();
    await latchkey.deleteKey({ keyId: gone.keyId });
    const expiring = await create({ expires: START + 1_000 });
    const later = await create({ startsAt: START + 60_000 });
    const used = await create({ remaining: 1 });
    const limited = await create({ ratelimit: { limit: 1, duration: 60_000 } });
    const elsewhere = await create({ ipWhitelist: ["192.0.2.0/24"] });
    const foreign = latchkey.workspace("ws_other");
    const { apiId: otherApi } = await foreign.createApi({ name: "harbour" });
    const other = await foreign.createKey({ apiId: otherApi });
    for (const { key } of [expiring, used, limited])
      expect(await ask(service, key)).toContain('"active":true');
    service.advance(1_000);
    for (const [code, { key }] of Object.entries({
      DISABLED: off,
      NOT_FOUND: gone,
      EXPIRED: expiring,
      NOT_STARTED: later,
      USAGE_EXCEEDED: used,
      RATE_LIMITED: limited,
      FORBIDDEN: elsewhere,
    })) {
      expect((await latchkey.verifyKey({ key })).code).toBe(code);
      expect([code, await ask(service, key)]).toEqual([code, INACTIVE]);
    }
    for (const token of [other.key, "x", " ", "é😀", "x".repeat(5_000), service.root])
      expect(await ask(service, token)).toBe(INACTIVE);
    const { total } = await service.ok("apis.listKeys", { apiId });
    expect(total).toBe(6);
  });

  test("is active: false in a disabled workspace; a root key of it stays a 403", async () => {
    const { service, create } = await open(BY_HEADER);
    const { key } = await create();
    await service.latchkey.setWorkspaceEnabled(false);
    const headers = { "x-permissions": '["*"]' };
    const reply = await service.call("keys.introspect", { token: key }, { token: null, headers });
    expect([reply.status, reply.text]).toEqual([200, INACTIVE]);
    const own = await open();
    await own.service.latchkey.setWorkspaceEnabled(false);
    expect((await own.service.call("keys.introspect", { token: key })).status).toBe(403);
  });

  test("knows only the keys of APIs that the root key may verify", async () => {
    const { service, apiId, create } = await open();
    const { key } = await create({ remaining: 2 });
    const token = await service.rootKey(`api.${apiId}.verify_key`);
    const other = await service.rootKey("api.api_other.verify_key");
    expect((await service.call("keys.introspect", { token: key }, { token: other })).text).toBe(
      INACTIVE,
    );
    expect((await service.ok("keys.introspect", { token: key }, { token })).active).toBe(true);
    for (const [held, status] of [
      [await service.rootKey("api.*.read_key"), 403],
      [null, 401],
    ] as const)
      expect((await service.call("keys.introspect", { token: key }, { token: held })).status).toBe(
        status,
      );
    expect(await service.latchkey.verifyKey({ key })).toMatchObject({ remaining: 0 });
  });

  test("publicVerify does not open it", async () => {
    const { service, create } = await open({ publicVerify: true });
    const { key } = await create();
    const reply = await service.call("keys.introspect", { token: key }, { token: null });
    expect(reply.status).toBe(401);
  });

  test("counts, and is charged, as a verification", async () => {
    const { service, create } = await open();
    const { key, keyId } = await create({ remaining: 1 });
    await ask(service, key);
    await ask(service, key);
    expect((await service.ok("keys.getKey", { keyId })).remaining).toBe(0);
    const { verifications } = await service.ok("keys.getVerifications", {
      keyId,
      start: START,
      end: START + 1,
      granularity: "hour",
    });
    expect(verifications).toMatchObject([{ outcomes: { VALID: 1, USAGE_EXCEEDED: 1 } }]);
  });
});

describe("a body that is not a form with one token", () => {
  test.each([
    ["nothing", ""],
    ["another field alone", "key=SECRET"],
    ["no value", "token="],
    ["no value but a name", "token"],
    ["two tokens", "token=SECRET&token=SECRET"],
    ["two tokens, one written otherwise", "token=SECRET&%74oken=x"],
    ["a field more", "token=SECRET&surprise=1"],
    ["two hints", "token=SECRET&token_type_hint=a&token_type_hint=b"],
    ["broken escapes", "token=SECRET%ff"],
    ["the field of an object", "__proto__=SECRET"],
    ["a token for a name", "SECRET"],
    ["a token for the name of two", "token=x&SECRET&SECRET=%ff"],
    ["JSON in a form", '{"token":"SECRET"}'],
    ["too many fields", `token=SECRET${"&a".repeat(10_001)}`],
  ])("%s is a 400 that does not repeat it", async (_, text) => {
    const { service, create } = await open();
    const { key } = await create();
    const reply = await post(service, text.replaceAll("SECRET", key));
    expect([reply.status, reply.body.error.code]).toEqual([400, "BAD_REQUEST"]);
    expect(reply.text).not.toContain(key);
  });

  test("bytes that are not UTF-8 are a 400", async () => {
    const { service } = await open();
    const bytes = Uint8Array.from([...new TextEncoder().encode("token=x"), 0xff]);
    expect((await post(service, bytes)).status).toBe(400);
  });

  test("a token in the query is a 400, even with one in the body", async () => {
    const { service, create } = await open();
    const { key } = await create();
    for (const body of ["", `token=${key}`]) {
      const reply = await post(service, body, FORM, `?token=${key}`);
      expect(reply.status).toBe(400);
      expect(reply.text).not.toContain(key);
    }
  });

  test("JSON, several parts, another charset and no type at all are a 415", async () => {
    const { service, create } = await open();
    const { key } = await create();
    const types = ["application/json", "multipart/form-data; boundary=x", "text/plain", ""];
    for (const type of [...types, `${FORM}; charset=latin1`, `${FORM}x`, `${FORM}, ${FORM}`]) {
      const reply = await post(service, `token=${key}`, type);
      expect([type, reply.status]).toEqual([type, 415]);
      expect(reply.text).toContain(FORM);
      expect(reply.text).not.toContain(key);
    }
    const compressed = await service.call(
      "keys.introspect",
      { token: key },
      { headers: { "content-encoding": "gzip" } },
    );
    expect(compressed.status).toBe(415);
  });

  test("a body that is too long is a 413", async () => {
    const { service } = await open();
    expect((await post(service, `token=${"x".repeat(70_000)}`)).status).toBe(413);
  });
});
