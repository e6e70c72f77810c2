import { LatchkeyError } from "@latchkey/core";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { OPERATIONS } from "../operations/table.js";
import { createFixture } from "../testing/fixture.js";
import { openFailing, openService, type Reply, read } from "../testing/open-service.js";
import { SAMPLES } from "../testing/samples.js";

function expectError(reply: Reply, status: number, code: string): void {
  expect([reply.status, reply.body.error.code]).toEqual([status, code]);
  const { code: _, message, requestId, issues, ...rest } = reply.body.error;
  expect(rest).toEqual({});
  expect(typeof message).toBe("string");
  expect(requestId).toBe(reply.headers.get("x-request-id"));
  if (issues !== undefined) expect(code).toBe("BAD_REQUEST");
}

/** A service whose store fails with this error. */
async function failingWith(error: unknown) {
  const { service, told: errors, fail } = await openFailing(error);
  const fixture = await createFixture(service);
  fail();
  return { service, fixture, errors };
}

describe("headers of every response", () => {
  test("JSON in UTF-8, not stored, not sniffed, with a request id of its own", async () => {
    const service = await openService();
    const replies = [
      await service.call("liveness"),
      await service.call("identities.listIdentities"),
      await service.call("identities.listIdentities", {}, { token: null }),
      await service.call("identities.listIdentities", { limit: 0 }),
      await service.call("nowhere"),
      await service.call("liveness", {}, { method: "POST" }),
    ];
    for (const { headers } of replies) {
      expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-request-id")).toMatch(/^req_[1-9A-HJ-NP-Za-km-z]{26}$/);
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
    const ids = replies.map(({ headers }) => headers.get("x-request-id"));
    expect(ids).toEqual([...new Set(ids)].sort());
  });

  test("a request id that the client sends is ignored", async () => {
    const service = await openService();
    const headers = { "x-request-id": "req_forged" };
    const reply = await service.call("nowhere", {}, { headers });
    expect(reply.headers.get("x-request-id")).not.toBe("req_forged");
    expect(reply.text).not.toContain("req_forged");
  });
});

describe("path and method, which are public", () => {
  test("an unknown path is 404, with and without credentials", async () => {
    const service = await openService();
    for (const token of [null, service.root])
      expectError(await service.call("apis.unknown", {}, { token }), 404, "NOT_FOUND");
  });

  test.each(OPERATIONS)(
    "$name: every other verb is 405 and says which one is right",
    async ({ name, method }) => {
      const service = await openService();
      const others = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PROPFIND"];
      for (const other of others.filter((verb) => verb !== method)) {
        const reply = await service.call(name, {}, { method: other, token: null });
        expectError(reply, 405, "METHOD_NOT_ALLOWED");
        expect(reply.headers.get("allow")).toBe(method);
      }
    },
  );

  test("paths are compared literally", async () => {
    const service = await openService();
    const paths = [
      "/",
      "/v1",
      "/v1/",
      "/v1//liveness",
      "//v1/liveness",
      "/v1/liveness/",
      "/V1/liveness",
    ];
    paths.push(
      "/v1/Liveness",
      "/v1/%6Civeness",
      "/v1/liveness;a",
      "/v1%2Fliveness",
      "/v1/x/v1/liveness",
    );
    paths.push(
      "/x/v1/liveness",
      "/v1/liveness%00",
      "/v1/liveness%20",
      "/v3/liveness",
      "/v1/__proto__",
    );
    paths.push("/v1/constructor", "/v1/toString", `/v1/${"a".repeat(100_000)}`, "/v1/liveness&a=1");
    for (const path of paths)
      expectError(
        await read(await service.send(new Request(`http://keys.test${path}`))),
        404,
        "NOT_FOUND",
      );
    for (const path of ["/v1/liveness", "/v1/liveness?", "/v1/liveness#x", "/v1/x/../liveness"])
      expect((await service.send(new Request(`http://keys.test${path}`))).status).toBe(200);
  });

  test("a base path precedes /v1, and must match completely", async () => {
    const service = await openService({ basePath: "/internal/keys" });
    const at = async (path: string) =>
      (await service.send(new Request(`http://keys.test${path}`))).status;
    expect(await at("/internal/keys/v1/liveness")).toBe(200);
    for (const path of ["/v1/liveness", "/keys/v1/liveness", "/internal/keys/liveness"])
      expect(await at(path)).toBe(404);
    expect(await at("/x/internal/keys/v1/liveness")).toBe(404);
  });
});

describe("errors of operations", () => {
  test("each kind has its code, its status and its body", async () => {
    const service = await openService();
    const { apiId, keyId, externalId } = await createFixture(service);
    const weak = await service.rootKey("identity.*.read_identity");
    const call = service.call;
    expectError(await call("apis.getApi"), 400, "BAD_REQUEST");
    expectError(await call("apis.getApi", { apiId }, { token: "x" }), 401, "UNAUTHORIZED");
    expectError(
      await call("apis.getApi", { apiId }, { token: weak }),
      403,
      "INSUFFICIENT_PERMISSIONS",
    );
    expectError(await call("apis.getApi", { apiId: "api_none" }), 404, "NOT_FOUND");
    expectError(await call("identities.createIdentity", { externalId }), 409, "CONFLICT");
    expectError(await call("keys.createKey", { apiId, roles: ["x"] }), 412, "PRECONDITION_FAILED");
    await service.latchkey.setWorkspaceEnabled(false);
    expectError(await call("keys.getKey", { keyId }), 403, "FORBIDDEN");
  });

  test("all issues of an input are reported at once, each with its path, none with its value", async () => {
    const service = await openService();
    const { body } = await service.call("keys.createKey", {
      apiId: 5,
      prefx: "x",
      refill: { interval: "yearly", amount: 0 },
      expires: 1,
      meta: "secret-value",
    });
    const paths = body.error.issues.map(({ path }: { path: string }) => path).sort();
    expect(paths).toEqual([
      "apiId",
      "expires",
      "meta",
      "prefx",
      "refill",
      "refill.amount",
      "refill.interval",
    ]);
    for (const { path, message } of body.error.issues)
      expect(body.error.message).toContain(`"${path}" ${message}`);
    expect(JSON.stringify(body)).not.toContain("secret-value");
  });

  test("query and body are refused with the same messages", async () => {
    const service = await openService();
    const query = await service.call("identities.getIdentity", { identityId: "", externalid: "x" });
    const body = await service.call("identities.updateIdentity", {
      identityId: "",
      externalid: "x",
    });
    expect(query.body.error.issues).toEqual(body.body.error.issues);
    expect(query.body.error.message).toBe(body.body.error.message);
  });
});

describe("internal errors", () => {
  test("a store that is away is 503 with Retry-After, and says whether a change may have happened", async () => {
    for (const outcome of ["not-applied", "unknown"] as const) {
      const error = new LatchkeyError("STORE_UNAVAILABLE", "redis://user:hunter2@db", { outcome });
      const { service, fixture, errors } = await failingWith(error);
      for (const { name, input } of SAMPLES) {
        const reply = await service.call(name, input(fixture));
        expectError(reply, 503, "STORE_UNAVAILABLE");
        expect(reply.headers.get("retry-after")).toBe("1");
        expect(reply.text).not.toContain("hunter2");
        expect(reply.text.includes("may or may not")).toBe(outcome === "unknown");
      }
      expect(errors).toHaveLength(SAMPLES.length);
    }
  });

  test("a damaged record and every other error is 500 and reveals nothing about the cause", async () => {
    const inside = [
      new LatchkeyError("STORE_CORRUPT", "the stored key key_1 is damaged (hunter2)"),
      new LatchkeyError("INTERNAL_SERVER_ERROR", "hunter2"),
      new TypeError("hunter2"),
      Object.assign(new Error("SELECT hunter2"), { code: "SQLITE_ERROR", status: 418 }),
      "hunter2",
      null,
    ];
    for (const error of inside) {
      const { service, fixture, errors } = await failingWith(error);
      const reply = await service.call("apis.listKeys", { apiId: fixture.apiId });
      expectError(reply, 500, "INTERNAL_SERVER_ERROR");
      expect(reply.text).not.toMatch(/hunter2|key_1|stored|damaged|SELECT/);
      expect(errors).toEqual([[error, reply.body.error.requestId]]);
    }
  });

  test("every cause of a 500 or 503 is printed with the id of its request unless onError is given", async () => {
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => print.mockRestore());
    const service = await openService();
    await service.latchkey.close();
    const { body } = await service.call("identities.listIdentities");
    expect(print.mock.calls).toEqual([[body.error.requestId, expect.any(LatchkeyError)]]);
  });

  test("a log that fails changes nothing", async () => {
    const service = await openService({
      onError: () => {
        throw new Error("disk full");
      },
    });
    await service.latchkey.close();
    expectError(await service.call("identities.listIdentities"), 503, "STORE_UNAVAILABLE");
  });

  test("docs is built from the configured base, and absent without one", async () => {
    const bare = await openService();
    expect((await bare.call("nowhere")).body.error).not.toHaveProperty("docs");

    for (const docsBaseUrl of [
      "https://docs.acme.test/keys/errors",
      "https://docs.acme.test/keys/errors/",
    ]) {
      const service = await openService({ docsBaseUrl });
      const { body } = await service.call("nowhere");
      expect(body.error.docs).toBe("https://docs.acme.test/keys/errors/NOT_FOUND");
    }
  });
});
