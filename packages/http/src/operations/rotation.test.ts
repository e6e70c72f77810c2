import { describe, expect, test } from "vitest";
import { BY_HEADER } from "../testing/by-header.js";
import { createFixture } from "../testing/fixture.js";
import { openService, START } from "../testing/open-service.js";

async function open() {
  const service = await openService();
  const { apiId } = await service.latchkey.createApi({ name: "payments" });
  const old = await service.latchkey.createKey({ apiId, prefix: "pay", remaining: 5 });
  return { service, apiId, old };
}

describe("keys.rotateKey", () => {
  test("returns a new key, which replaces the old one after the grace", async () => {
    const { service, apiId, old } = await open();
    const next = await service.ok("keys.rotateKey", { keyId: old.keyId, graceMs: 1_000 });
    expect(Object.keys(next).sort()).toEqual(["key", "keyId"]);
    expect(next.key).toMatch(/^pay_/);
    for (const { key } of [old, next])
      expect((await service.ok("keys.verifyKey", { key })).valid).toBe(true);
    service.advance(1_000);
    const verdict = await service.ok("keys.verifyKey", { key: old.key });
    expect([verdict.code, verdict.expires]).toEqual(["EXPIRED", START + 1_000]);
    const shown = await service.ok("keys.getKey", { keyId: next.keyId });
    expect([shown.rotatedFrom, shown.remaining]).toEqual([old.keyId, 3]);
    expect((await service.ok("apis.listKeys", { apiId })).keys[0].rotatedTo).toBe(next.keyId);
  });

  test("accepts a grace period with a unit, and an instant only as a number", async () => {
    const { service, apiId, old } = await open();
    await service.ok("keys.rotateKey", { keyId: old.keyId, graceMs: "1d" });
    const { expires } = await service.latchkey.getKey({ keyId: old.keyId });
    expect(expires).toBe(START + 86_400_000);
    for (const expires of ["2031-05-17T00:00:00.000Z", 9e15]) {
      const { status, body } = await service.call("keys.createKey", { apiId, expires });
      expect([status, body.error.issues[0].path]).toEqual([400, "expires"]);
    }
  });

  test("is 409 the second time, 412 for an expired key, 404 for an unknown key, 400 for a bad grace period", async () => {
    const { service, apiId, old } = await open();
    const short = await service.latchkey.createKey({ apiId, expires: START + 1 });
    service.advance(1);
    await service.ok("keys.rotateKey", { keyId: old.keyId });
    const refuse = async (input: object) => {
      const { status, body } = await service.call("keys.rotateKey", input);
      return [status, body.error.code];
    };
    expect(await refuse({ keyId: old.keyId })).toEqual([409, "CONFLICT"]);
    expect(await refuse({ keyId: short.keyId })).toEqual([412, "PRECONDITION_FAILED"]);
    expect(await refuse({ keyId: "key_none" })).toEqual([404, "NOT_FOUND"]);
    for (const graceMs of [-1, 1.5, "1000", null, 31_536_000_001])
      expect(await refuse({ keyId: old.keyId, graceMs })).toEqual([400, "BAD_REQUEST"]);
  });

  test("needs no encrypt_key for a key that is not recoverable", async () => {
    const { service, apiId, old } = await open();
    for (const token of [
      await service.rootKey("api.*.create_key", "api.*.update_key"),
      await service.rootKey(`api.${apiId}.create_key`, `api.${apiId}.update_key`),
    ]) {
      const { keyId } = await service.latchkey.createKey({ apiId });
      expect((await service.call("keys.rotateKey", { keyId }, { token })).status).toBe(200);
    }
    const token = await service.rootKey("api.*.create_key");
    const { status, body } = await service.call("keys.rotateKey", { keyId: old.keyId }, { token });
    expect([status, body.error.message]).toEqual([
      403,
      "this needs api.*.create_key (or api.<apiId>.create_key) and api.*.update_key (or api.<apiId>.update_key); " +
        "for a recoverable key also api.*.encrypt_key (or api.<apiId>.encrypt_key)",
    ]);
  });

  test("of a recoverable key without encrypt_key writes nothing, whatever the state of the key", async () => {
    const service = await openService(BY_HEADER);
    const { apiId, keyId } = await createFixture(service);
    const rotate = (...permissions: string[]) =>
      service.call(
        "keys.rotateKey",
        { keyId },
        { token: null, headers: { "x-permissions": JSON.stringify(permissions) } },
      );
    const held = ["api.*.create_key", `api.${apiId}.update_key`];
    expect((await rotate(...held)).status).toBe(403);
    expect((await service.latchkey.listKeys({ apiId })).total).toBe(1);
    expect((await rotate(...held, `api.${apiId}.encrypt_key`)).status).toBe(200);
    expect((await rotate(...held)).status).toBe(403);
    expect((await rotate("*")).status).toBe(409);
  });
});

describe("keys.deleteKey", () => {
  test("accepts permanent, true or false", async () => {
    const { service, apiId } = await open();
    for (const permanent of [true, false]) {
      const { keyId, key } = await service.latchkey.createKey({ apiId });
      expect(await service.ok("keys.deleteKey", { keyId, permanent })).toEqual({});
      expect((await service.ok("keys.verifyKey", { key })).code).toBe("NOT_FOUND");
    }
    const { status, body } = await service.call("keys.deleteKey", {
      keyId: "k",
      permanent: "true",
    });
    expect([status, body.error.issues]).toEqual([
      400,
      [{ path: "permanent", message: "must be true or false" }],
    ]);
  });
});
