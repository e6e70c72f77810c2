import { inspect } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFixture } from "./testing/fixture.js";
import { openService, type Reply, read } from "./testing/open-service.js";
import { SAMPLES } from "./testing/samples.js";

test("no secret is in any response but those that issue it, in any log, or in any error", async () => {
  const printed: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    const spy = vi.spyOn(stream, "write").mockImplementation((chunk) => {
      printed.push(String(chunk));
      return true;
    });
    onTestFinished(() => spy.mockRestore());
  }
  const told: string[] = [];
  const service = await openService({
    onError: (error) => told.push(inspect(error, { depth: 10 })),
  });
  const { apiId } = await service.latchkey.createApi({ name: "payments" });
  const { key, keyId } = await service.latchkey.createKey({ apiId, recoverable: true });
  const canaries = [service.root, key];
  const replies: Reply[] = [];
  const keep = async (reply: Promise<Reply>) => replies.push(await reply);

  const post = (body: string, token = service.root) =>
    service
      .send(
        new Request("http://keys.test/v1/keys.createKey", {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body,
        }),
      )
      .then(read);

  for (const secret of canaries) {
    await keep(service.call("keys.verifyKey", { key: secret }));
    await keep(service.call("keys.verifyKey", { key: `${secret}x` }));
    await keep(service.call("identities.listIdentities", {}, { token: secret }));
    await keep(service.call("identities.listIdentities", {}, { token: `${secret}x` }));
    await keep(service.call("identities.listIdentities", {}, { token: `${secret} x` }));
    for (const field of ["apiId", "keyId", "identityId", "cursor", "limit", "decrypt"])
      for (const { name, input } of SAMPLES)
        await keep(service.call(name, { ...input(SCENE), [field]: secret }));
    for (const field of ["expires", "meta", "refill", "ratelimit", "roles", "enabled", "prefix"])
      await keep(service.call("keys.createKey", { apiId, [field]: secret }));
    await keep(service.call("keys.verifyKey", { key: secret, ratelimits: [{ name: secret }] }));
    await keep(
      service.call("keys.verifyKey", { key, authorization: { permissions: { or: secret } } }),
    );
    for (const body of [
      secret,
      `{"${secret}`,
      `{"a":${secret}}`,
      `{"a":"${secret}" 1}`,
      `["${secret}"]`,
    ])
      await keep(post(body));
    await keep(post(`{"apiId":"${secret}","apiId":"${secret}"}`));
    await keep(post(`${"x".repeat(70_000)}${secret}`));
  }
  await keep(service.call("keys.getKey", { keyId }));
  await keep(service.call("apis.listKeys", { apiId }));
  await service.latchkey.close();
  for (const { name, input } of SAMPLES)
    await keep(service.call(name, { ...input(SCENE) }, { token: service.root }));
  await keep(service.call("keys.verifyKey", { key }));

  expect(replies.length).toBeGreaterThan(300);
  expect(told.length).toBeGreaterThan(10);
  for (const secret of canaries) {
    for (const { text, headers } of replies) {
      expect(text).not.toContain(secret);
      expect(JSON.stringify([...headers])).not.toContain(secret);
    }
    for (const text of [...told, ...printed]) expect(text).not.toContain(secret);
  }
});

const SCENE: Parameters<(typeof SAMPLES)[number]["input"]>[0] = {
  apiId: "api_none",
  keyId: "key_none",
  key: "none",
  identityId: "id_none",
  externalId: "none",
  roleId: "role_none",
  permissionId: "perm_none",
  rootKeyId: "root_none",
  permission: "none",
  namespace: "none",
  reservationId: "rsv_none",
};

test("the secret of a new key is in the response that issues it, which is never cached", async () => {
  const service = await openService();
  const { apiId } = await createFixture(service);
  const created = await service.call("keys.createKey", { apiId });
  const decrypted = await service.call("apis.listKeys", { apiId, decrypt: true });
  for (const { headers } of [created, decrypted])
    expect(headers.get("cache-control")).toBe("no-store");
  expect(created.text).toContain(created.body.key);
  expect(decrypted.body.keys[0].plaintext).toEqual(expect.any(String));
});
