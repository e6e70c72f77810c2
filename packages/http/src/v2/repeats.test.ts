import { describe, expect, test } from "vitest";
import { createFixture } from "../testing/fixture.js";
import { type CallOptions, openService, type TestService } from "../testing/open-service.js";
import { V2_SAMPLES } from "../testing/v2-samples.js";
import { V2 } from "./contract.js";

const REPEATABLE = new Set(
  V2.operations.filter(({ isRepeatable }) => isRepeatable).map(({ name }) => name),
);
const WRITES = V2_SAMPLES.filter(({ name }) => REPEATABLE.has(name));

function call(service: TestService, name: string, input: object, key: string, token?: string) {
  const given: CallOptions = { version: "v2", headers: { "idempotency-key": key } };
  return service.call(name, input, token === undefined ? given : { ...given, token });
}

/** Number of writes. */
async function countEntries({ latchkey }: TestService): Promise<number> {
  return (await latchkey.listAuditEvents({ limit: 100 })).events.length;
}

test("every write accepts the header, except charges and an import", () => {
  const reads = /\.(?:get|list|whoami)/;
  const others = /verifyKey|Reserv|reserve|ratelimit\.|migrateKeys/;
  expect([...REPEATABLE]).toEqual(
    V2.operations.map(({ name }) => name).filter((name) => !reads.test(name) && !others.test(name)),
  );
});

describe.each(WRITES)("W1: $title", ({ name, input }) => {
  test("answers a repeat like the first call, and writes nothing again", async () => {
    const service = await openService();
    const given = input(await createFixture(service));
    const first = await call(service, name, given, "retry-1");
    expect([first.status, first.text]).toEqual([200, expect.any(String)]);
    const written = await countEntries(service);
    const second = await call(service, name, given, "retry-1");
    expect(second.status).toBe(200);
    expect(second.body.data).toEqual(first.body.data);
    expect(await countEntries(service)).toBe(written);
    const { latchkey } = service;
    const { apiId } = await latchkey.createApi({ name: "other" });
    const other = await call(service, "apis.deleteApi", { apiId }, "retry-1");
    expect([other.status, other.body.error.detail]).toEqual([
      409,
      expect.stringContaining("Idempotency-Key"),
    ]);
  });
});

test("W1: a repeat uses the names, and the right to create, of the first call", async () => {
  const service = await openService();
  const { latchkey } = service;
  const { keyId, permission, roleId, externalId } = await createFixture(service);
  const { name: role } = await latchkey.getRole({ roleId });
  const twice = async (name: string, input: object) => {
    for (let count = 0; count < 2; count += 1)
      expect((await call(service, name, input, `${name} by name`)).status).toBe(200);
  };
  await twice("identities.deleteIdentity", { identity: externalId });
  await twice("permissions.deleteRole", { role });
  await twice("permissions.deletePermission", { permission });
  const { rootKeyId, key: token } = await latchkey.createRootKey({
    permissions: ["rbac.*.add_permission_to_key", "rbac.*.create_permission"],
  });
  const input = { keyId, permissions: ["new.one"] };
  const first = await call(service, "keys.addPermissions", input, "adding", token);
  expect(first.body.data).toMatchObject([{ slug: "new.one" }]);
  await latchkey.updateRootKey({ rootKeyId, permissions: ["rbac.*.add_permission_to_key"] });
  const second = await call(service, "keys.addPermissions", input, "adding", token);
  expect(second.body.data).toEqual(first.body.data);
});

test("W1: a secret is shown once, unless it can be decrypted", async () => {
  const service = await openService();
  const { apiId } = await service.latchkey.createApi({ name: "payments" });
  const { body } = await call(service, "keys.createKey", { apiId }, "retry-1");
  const { keyId } = body.data;
  const again = await call(service, "keys.createKey", { apiId }, "retry-1");
  expect(again.body.data).toEqual({ keyId, secretShownBefore: true });
  const reroll = { keyId, expiration: 0 };
  const next = await call(service, "keys.rerollKey", reroll, "retry-2");
  expect((await call(service, "keys.rerollKey", reroll, "retry-2")).body.data).toEqual({
    keyId: next.body.data.keyId,
    secretShownBefore: true,
  });
});

test("a verification and a reservation are charged once", async () => {
  const service = await openService();
  const { apiId } = await service.latchkey.createApi({ name: "payments" });
  const { keyId, key } = await service.latchkey.createKey({ apiId, remaining: 10 });
  for (const name of ["keys.verifyKey", "keys.reserve"]) {
    const first = await call(service, name, { key }, name);
    const second = await call(service, name, { key }, name);
    expect([second.status, second.body.data]).toEqual([200, first.body.data]);
    const other = await call(service, name, { key, credits: { cost: 3 } }, name);
    expect([other.status, other.body.error.detail]).toEqual([
      409,
      expect.stringContaining("Idempotency-Key"),
    ]);
    expect((await service.call(name, { key, requestId: "a" }, { version: "v2" })).status).toBe(400);
  }
  expect(await service.latchkey.getKey({ keyId })).toMatchObject({ remaining: 8 });
});

test.each(["apis.createApi", "keys.verifyKey"])(
  "%s with a header that is too long is a 400 that says where",
  async (name) => {
    const service = await openService();
    const input = name === "apis.createApi" ? { name: "payments" } : { key: "nope" };
    const { status, body } = await call(service, name, input, "x".repeat(129));
    expect([status, body.error.errors]).toEqual([
      400,
      [expect.objectContaining({ location: "header.Idempotency-Key" })],
    ]);
  },
);
