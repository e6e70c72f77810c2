import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../index.js";
import { openService, read, START, type TestService } from "../testing/open-service.js";

const hashOf = (secret: string, form: "base64" | "base64url" = "base64") => ({
  value: createHash("sha256").update(secret).digest(form),
  variant: `sha256_${form}`,
});

async function open(options: { maxBodyBytes?: number } = {}) {
  const service = await openService(options);
  const { apiId } = await service.latchkey.createApi({ name: "payments" });
  return { service, apiId };
}

/** Posts a text unchanged. */
async function post(service: TestService, text: string) {
  const request = new Request("http://keys.test/v1/migrations.createKeys", {
    method: "POST",
    headers: { authorization: `Bearer ${service.root}`, "content-type": "application/json" },
    body: text,
  });
  return read(await service.handler(request));
}

describe("migrations.createKeys", () => {
  test("accepts a bare array and returns the ids in its order", async () => {
    const { service, apiId } = await open();
    const { keyIds } = await service.ok("migrations.createKeys", [
      { apiId, hash: hashOf("sk_one"), start: "sk_", name: "one" },
      { apiId, plaintext: "sk_two", recoverable: true, remaining: 0, externalId: "user_1" },
    ]);
    expect(await service.ok("keys.verifyKey", { key: "sk_one" })).toMatchObject({
      valid: true,
      keyId: keyIds[0],
      name: "one",
    });
    expect(await service.ok("keys.verifyKey", { key: "sk_two" })).toMatchObject({
      code: "USAGE_EXCEEDED",
      keyId: keyIds[1],
      ownerId: "user_1",
    });
    const shown = await service.ok("keys.getKey", { keyId: keyIds[1], decrypt: true });
    expect([shown.plaintext, shown.start]).toEqual(["sk_two", ""]);
  });

  test("is 409 for a known secret, 404 for an unknown API, 412 for a missing role: nothing is written", async () => {
    const { service, apiId } = await open();
    await service.ok("migrations.createKeys", [{ apiId, hash: hashOf("sk_one") }]);
    const fresh = { apiId, hash: hashOf("sk_new") };
    for (const [other, status] of [
      [{ apiId, plaintext: "sk_one" }, 409],
      [{ apiId, plaintext: "sk_new" }, 409],
      [{ apiId: "api_none", plaintext: "sk_x" }, 404],
      [{ apiId, plaintext: "sk_x", roles: ["none"] }, 412],
    ] as const)
      expect((await service.call("migrations.createKeys", [fresh, other])).status).toBe(status);
    expect((await service.latchkey.listKeys({ apiId })).total).toBe(1);
  });

  test("accepts expired keys, hashes in each encoding, and the instant of creation", async () => {
    const { service, apiId } = await open();
    const { keyIds } = await service.ok("migrations.createKeys", [
      { apiId, plaintext: "sk_old", expires: START, createdAt: 1 },
      { apiId, hash: hashOf("sk_url", "base64url") },
    ]);
    const shown = await service.ok("keys.getKey", { keyId: keyIds[0] });
    expect(shown).toMatchObject({ expires: START, createdAt: 1, enabled: false });
    const { code } = await service.ok("keys.verifyKey", { key: "sk_url" });
    expect(code).toBe("VALID");
  });

  test("names the row and the field of every issue at once", async () => {
    const { service, apiId } = await open();
    const { status, body } = await service.call("migrations.createKeys", [
      { apiId, hash: { value: "x", variant: "sha256_hex" } },
      { apiId, plaintext: "sk_x", createdAt: START + 1 },
      7,
      { apiId, prefx: "sk" },
    ]);
    expect([status, body.error.issues]).toEqual([
      400,
      [
        { path: "0.hash.value", message: "must be 32 bytes in hexadecimal: 64 digits" },
        { path: "2", message: "must be an object: { apiId }" },
        { path: "3.prefx", message: "is not a known field" },
        {
          path: "3.hash",
          message:
            "is required if plaintext is not given: createKeys takes keys that exist, createKey makes new ones",
        },
        { path: "1.createdAt", message: "must not be later than now" },
      ],
    ]);
  });

  test("needs create_key of every API in the list, and encrypt_key of those with a recoverable key", async () => {
    const { service, apiId: one } = await open();
    const { apiId: two } = await service.latchkey.createApi({ name: "maps" });
    const list = [
      { apiId: one, plaintext: "sk_1" },
      { apiId: two, plaintext: "sk_2", recoverable: true },
    ];
    const create = [`api.${one}.create_key`, `api.${two}.create_key`];
    for (const held of [
      ["rbac.*.read_role"],
      create.slice(0, 1),
      create.slice(1),
      create,
      [...create, `api.${one}.encrypt_key`],
      ["api.*.encrypt_key", ...create.slice(1)],
      ["api.*.encrypt_key", ...create.slice(0, 1)],
      ["api.*.encrypt_key"],
    ]) {
      const token = await service.rootKey(...held);
      const { status, body } = await service.call("migrations.createKeys", list, { token });
      expect([held, status, body.error?.message]).toEqual([
        held,
        403,
        "this needs api.*.create_key (or api.<apiId>.create_key) and api.*.encrypt_key (or api.<apiId>.encrypt_key)",
      ]);
    }
    expect((await service.latchkey.listKeys({ apiId: one })).total).toBe(0);
    const token = await service.rootKey(...create, `api.${two}.encrypt_key`);
    expect((await service.call("migrations.createKeys", list, { token })).status).toBe(200);
  });

  test("gives a token for one API the same refusal whether the other APIs of the list exist or not", async () => {
    const { service, apiId } = await open();
    const { apiId: other } = await service.latchkey.createApi({ name: "maps" });
    const token = await service.rootKey(`api.${apiId}.create_key`);
    const messages = new Set<string>();
    for (const second of [other, "api_none"]) {
      const list = [
        { apiId, plaintext: "sk_1" },
        { apiId: second, plaintext: "sk_2" },
      ];
      const { status, body } = await service.call("migrations.createKeys", list, { token });
      expect(status).toBe(403);
      messages.add(body.error.message);
    }
    expect(messages.size).toBe(1);
  });

  test("is read as strictly as any body", async () => {
    const { service, apiId } = await open();
    const api = JSON.stringify(apiId);
    for (const text of [
      "",
      "{}",
      "null",
      "[]",
      "[[]]",
      `{"0":{"apiId":${api},"plaintext":"sk_1"}}`,
      `[{"apiId":${api},"plaintext":"sk_1","plaintext":"sk_2"}]`,
      `[{"apiId":${api},"plaintext":"sk_1","__proto__":{}}]`,
      `[{"apiId":${api},"plaintext":"sk_1"},]`,
      `[{"apiId":${api},"plaintext":"sk_1"}][]`,
      `[{"apiId":${api},"plaintext":"sk_1","meta":{"constructor":1}}]`,
      `${"[".repeat(40)}${"]".repeat(40)}`,
    ]) {
      const { status, body } = await post(service, text);
      expect([text, status]).toEqual([text, 400]);
      expect(body.error.issues.length).toBeGreaterThan(0);
    }
    expect((await service.latchkey.listKeys({ apiId })).total).toBe(0);
  });

  test("query parameters are refused, together with the issues of the list", async () => {
    const { service } = await open();
    const request = new Request("http://keys.test/v1/migrations.createKeys?apiId=x", {
      method: "POST",
      headers: { authorization: `Bearer ${service.root}`, "content-type": "application/json" },
      body: "[]",
    });
    const { status, body } = await read(await service.handler(request));
    expect([status, body.error.issues]).toEqual([
      400,
      [
        { path: "", message: "must be a list of 1 to 100 keys" },
        { path: "apiId", message: "is not a known query parameter" },
      ],
    ]);
  });

  test("can have 1 MiB, 16 times as much as other bodies, and not a byte more", async () => {
    const { service, apiId } = await open();
    const list = JSON.stringify([{ apiId, plaintext: "sk_1" }]);
    const padded = (bytes: number) => `${list}${" ".repeat(bytes - list.length)}`;
    expect((await post(service, padded(2 ** 20 + 1))).status).toBe(413);
    expect((await post(service, padded(2 ** 20))).status).toBe(200);
    const small = await open({ maxBodyBytes: 10 });
    const shortList = "[]".padEnd(160);
    expect((await post(small.service, shortList)).status).toBe(400);
    expect((await post(small.service, `${shortList} `)).status).toBe(413);
  });

  test("100 keys with every field fit easily", async () => {
    const { service, apiId } = await open();
    const meta = { note: "n".repeat(8_000) };
    const list = Array.from({ length: 100 }, (_, at) => ({
      apiId,
      hash: hashOf(`sk_${at}`),
      name: "n".repeat(256),
      externalId: `user_${at}`,
      meta,
      ratelimits: Array.from({ length: 5 }, (_, which) => ({
        name: `limit_${which}`,
        limit: 10,
        duration: 1_000,
      })),
    }));
    expect((await service.ok("migrations.createKeys", list)).keyIds).toHaveLength(100);
  });

  test("is a list of objects in the document, with the same bounds", () => {
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it expects there
    const { post } = openApiDocument().paths["/v1/migrations.createKeys"] as any;
    expect(post.requestBody.content["application/json"].schema).toMatchObject({
      type: "array",
      minItems: 1,
      maxItems: 100,
      items: { type: "object", required: ["apiId"], additionalProperties: false },
    });
  });
});
