import { expect, test } from "vitest";
import { openService } from "../testing/open-service.js";
import { OPERATIONS } from "./table.js";

test("every POST except verifications accepts the header, and no GET does", () => {
  const others = [
    ...["keys.verifyKey", "keys.exchangeKey", "keys.explainKey", "keys.whoami"],
    "ratelimits.limit",
  ];
  for (const { name, method, operation, isRepeatable } of OPERATIONS) {
    const isVerification = others.includes(name) || /[rR]eserv/.test(name) || operation === null;
    expect([name, isRepeatable]).toEqual([name, method === "POST" && !isVerification]);
  }
});

test("W1: a retry gets the same response except the secret, and another input is a 409", async () => {
  const service = await openService();
  const headers = { "idempotency-key": "retry-1" };
  const { apiId } = await service.ok("apis.createApi", { name: "payments" }, { headers });
  expect(await service.ok("apis.createApi", { name: "payments" }, { headers })).toEqual({ apiId });
  const reused = await service.call("apis.createApi", { name: "harbour" }, { headers });
  expect([reused.status, reused.body.error.code]).toEqual([409, "CONFLICT"]);
  expect(reused.body.error.message).toContain("Idempotency-Key");
  const again = { headers: { "idempotency-key": "retry-2" } };
  const { keyId } = await service.ok("keys.createKey", { apiId }, again);
  expect(await service.ok("keys.createKey", { apiId }, again)).toEqual({
    keyId,
    secretShownBefore: true,
  });
  expect((await service.ok("apis.listKeys", { apiId })).total).toBe(1);
});

test("W1: the same key from another caller is a different one", async () => {
  const service = await openService();
  const token = await service.rootKey("api.*.create_api");
  const headers = { "idempotency-key": "retry-1" };
  const one = await service.ok("apis.createApi", { name: "payments" }, { headers });
  const other = await service.ok("apis.createApi", { name: "payments" }, { headers, token });
  expect(other.apiId).not.toBe(one.apiId);
});

test("W1: with a permission for one API, the retry of a deletion gets its response, and a key that never existed a refusal", async () => {
  const service = await openService();
  const { apiId } = await service.ok("apis.createApi", { name: "payments" });
  const { keyId } = await service.ok("keys.createKey", { apiId });
  const token = await service.rootKey(`api.${apiId}.delete_key`);
  const headers = { "idempotency-key": "retry-1" };
  for (let count = 0; count < 2; count += 1)
    expect(await service.ok("keys.deleteKey", { keyId }, { headers, token })).toEqual({});
  const plain = await service.call("keys.deleteKey", { keyId }, { token });
  const unknown = { headers: { "idempotency-key": "retry-2" }, token };
  const first = await service.call("keys.deleteKey", { keyId }, unknown);
  for (const { status, body } of [plain, first])
    expect([status, body.error.code]).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
});

test("W1: a retry contains the secret of a recoverable key if the caller may decrypt it", async () => {
  const service = await openService();
  const { apiId } = await service.ok("apis.createApi", { name: "payments" });
  const create = ["create_key", "encrypt_key"].map((action) => `api.${apiId}.${action}`);
  const answers = async (...permissions: readonly string[]) => {
    const token = await service.rootKey(...permissions);
    const given = { headers: { "idempotency-key": "retry-1" }, token };
    const input = { apiId, recoverable: true };
    const first = await service.ok("keys.createKey", input, given);
    return [first, await service.ok("keys.createKey", input, given)];
  };
  const [first, second] = await answers(...create, `api.${apiId}.decrypt_key`);
  expect(second).toEqual(first);
  const [shown, hidden] = await answers(...create);
  expect(hidden).toEqual({ keyId: shown.keyId, secretShownBefore: true });
});

test("a retry is not refused because time has passed", async () => {
  const service = await openService();
  const { apiId } = await service.ok("apis.createApi", { name: "payments" });
  const given = { headers: { "idempotency-key": "retry-1" } };
  const input = { apiId, expires: service.now() + 1_000 };
  const { keyId } = await service.ok("keys.createKey", input, given);
  service.advance(2_000);
  expect(await service.ok("keys.createKey", input, given)).toMatchObject({ keyId });
  const fresh = { headers: { "idempotency-key": "retry-2" } };
  const { status, body } = await service.call("keys.createKey", input, fresh);
  expect([status, body.error.issues[0].path]).toEqual([400, "expires"]);
});

test.each(["", "x".repeat(129)])(
  "a header that is not a valid idempotency key is a 400 that names it",
  async (key) => {
    const service = await openService();
    const given = { headers: { "idempotency-key": key } };
    const { status, body } = await service.call("apis.createApi", { name: "payments" }, given);
    expect([status, body.error.issues]).toEqual([
      400,
      [{ path: "Idempotency-Key", message: "must be a string of 1 to 128 characters" }],
    ]);
    const inBody = { name: "payments", idempotencyKey: "a" };
    expect((await service.call("apis.createApi", inBody)).body.error.issues).toEqual([
      { path: "idempotencyKey", message: "is sent as the header Idempotency-Key" },
    ]);
  },
);
