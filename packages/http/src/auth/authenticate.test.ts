import { memoryStore } from "@latchkey/memory";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openService, read, START, type TestService } from "../testing/open-service.js";
import { recordingStore } from "../testing/recording-store.js";
import { SAMPLES } from "../testing/samples.js";
import { byRootKey } from "./authenticate.js";

const anonymous = (text: string) => text.replace(/req_[A-Za-z0-9]+/g, "req");

describe("root keys", () => {
  test("every token that is not good is refused in the same words, whatever is wrong with it", async () => {
    const service = await openService();
    const { apiId } = await service.ok("apis.createApi", { name: "payments" });
    const customer = await service.ok("keys.createKey", { apiId });
    const dead = await service.latchkey.createRootKey({ permissions: ["*"], expires: START + 1 });
    service.advance(1);
    const { root } = service;
    const bad: (string | null)[] = [
      null,
      "",
      "Bearer",
      "Bearer ",
      "Bearer    ",
      `Basic ${root}`,
      root,
    ];
    bad.push(`Bearer ${root} x`, `Bearer ${root},${root}`, `Bearer ${root}, Bearer ${root}`);
    bad.push(
      `Bearer\t${root}`,
      `Bearer:${root}`,
      `Bearer "${root}"`,
      `Bearer${root}`,
      `${root} Bearer`,
    );
    for (const token of ["' OR '1'='1", "*", "%", "_", "../", "{x}", "x".repeat(8_192), "é", "ÿ"])
      bad.push(`Bearer ${token}`);
    for (const token of [
      customer.key,
      customer.keyId,
      dead.key,
      dead.rootKeyId,
      root.toUpperCase(),
    ])
      bad.push(`Bearer ${token}`);
    bad.push(`Bearer ${root.toLowerCase()}`, `Bearer ${root.slice(0, -1)}`, `Bearer ${root}1`);
    bad.push(`Bearer ${root.slice(0, -1)}${root.endsWith("a") ? "b" : "a"}`, `Bearer ${root}=`);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(root));
    const bytes = Buffer.from(digest);
    for (const form of ["hex", "base64", "base64url"] as const)
      bad.push(`Bearer ${bytes.toString(form)}`);

    const answers = new Set<string>();
    for (const authorization of bad) {
      const headers = authorization === null ? {} : { authorization };
      const reply = await service.call("apis.getApi", { apiId }, { token: null, headers });
      expect([authorization, reply.status]).toEqual([authorization, 401]);
      expect(reply.headers.get("www-authenticate")).toBe("Bearer");
      answers.add(anonymous(reply.text));
    }
    expect([...answers]).toHaveLength(1);
    expect([...answers][0]).toContain('"code":"UNAUTHORIZED"');
    expect([...answers][0]).toContain("Authorization: Bearer <root key>");
  });

  test("the scheme is compared without case", async () => {
    const service = await openService();
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const headers = { authorization: `${scheme} ${service.root}` };
      expect(
        (await service.call("identities.listIdentities", {}, { token: null, headers })).status,
      ).toBe(200);
    }
  });

  test("a token anywhere but in the header is ignored", async () => {
    const service = await openService();
    const headers = {
      cookie: `token=${service.root}`,
      "x-api-key": service.root,
      "x-authorization": `Bearer ${service.root}`,
    };
    const elsewhere = await service.call("identities.listIdentities", {}, { token: null, headers });
    expect(elsewhere.status).toBe(401);
    const inQuery = { access_token: service.root };
    expect((await service.call("identities.listIdentities", inQuery, { token: null })).status).toBe(
      401,
    );
  });

  test("a disabled workspace is 403 before permissions are looked at", async () => {
    const service = await openService();
    const weak = await service.rootKey("api.*.read_api");
    await service.latchkey.setWorkspaceEnabled(false);
    for (const token of [service.root, weak]) {
      const { status, body } = await service.call("identities.listIdentities", {}, { token });
      expect([status, body.error.code, body.error.message]).toEqual([
        403,
        "FORBIDDEN",
        "workspace is disabled",
      ]);
    }
    const header = () => `Bearer ${weak}`;
    await expect(byRootKey(service.latchkey)({ header } as never)).rejects.toMatchObject({
      reason: "workspace-disabled",
    });
    expect((await service.call("identities.listIdentities", {}, { token: "wrong" })).status).toBe(
      401,
    );
    await service.latchkey.setWorkspaceEnabled(true);
    expect((await service.call("identities.listIdentities")).status).toBe(200);
  });

  test("a root key works in its own workspace, whatever the handler's is", async () => {
    const service = await openService();
    const other = service.latchkey.workspace("ws_other");
    const { key: token } = await other.createRootKey({ permissions: ["*"] });
    const { apiId } = await service.ok("apis.createApi", { name: "other" }, { token });
    expect((await service.ok("apis.getApi", { apiId }, { token })).workspaceId).toBe("ws_other");
    expect((await service.call("apis.getApi", { apiId })).status).toBe(404);
  });

  test("an unknown caller costs one read of the store at most, and writes nothing", async () => {
    const calls: string[] = [];
    const service = await openService({ store: recordingStore(memoryStore(), calls) });
    for (const { name } of SAMPLES) {
      for (const token of [null, "malformed é", "looksLikeAnImportedKey"]) {
        calls.length = 0;
        const headers = token === null ? {} : { authorization: `Bearer ${encodeURI(token)}` };
        expect((await service.call(name, {}, { token: null, headers })).status).toBe(401);
        expect(calls.filter((call) => call !== "read")).toEqual([]);
        expect(calls.length).toBeLessThanOrEqual(1);
      }
    }
  });

  test("an unknown caller gets 401 before anything about the body", async () => {
    const service = await openService();
    const bodies: NonNullable<RequestInit["body"]>[] = [
      "{",
      "[]",
      "x".repeat(100_000),
      new Uint8Array([0xff]),
    ];
    for (const body of bodies) {
      const request = new Request("http://keys.test/v1/keys.createKey", { method: "POST", body });
      expect((await read(await service.send(request))).status).toBe(401);
    }
  });
});

describe("a caller that is revoked before its body has arrived", () => {
  async function sendLate(
    service: TestService,
    {
      apiId,
      revoke,
      headers,
    }: { apiId: string; revoke: () => unknown; headers: Readonly<Record<string, string>> },
  ) {
    const clock = vi.spyOn(performance, "now");
    onTestFinished(() => clock.mockRestore());
    const pull = async (controller: ReadableStreamDefaultController) => {
      await revoke();
      clock.mockReturnValue(performance.now() + 60_000);
      controller.enqueue(new TextEncoder().encode(JSON.stringify({ apiId })));
      controller.close();
    };
    // With this bound, nothing is pulled before it is read.
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    const init = { method: "POST", headers, body, duplex: "half" as const };
    const answer = await service.send(new Request("http://keys.test/v1/keys.createKey", init));
    expect(answer.status).toBe(401);
    expect((await service.latchkey.listKeys({ apiId })).total).toBe(0);
  }

  test("is refused, if it uses a root key", async () => {
    const service = await openService();
    const { apiId } = await service.latchkey.createApi({ name: "maps" });
    const { key, rootKeyId } = await service.latchkey.createRootKey({ permissions: ["*"] });
    await sendLate(service, {
      apiId,
      revoke: () => service.latchkey.revokeRootKey({ rootKeyId }),
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
  });

  test("is refused, if the host authenticates", async () => {
    let isKnown = true;
    const authenticate = () => (isKnown ? { workspaceId: "ws_default", permissions: ["*"] } : null);
    const service = await openService({ authenticate });
    const { apiId } = await service.latchkey.createApi({ name: "maps" });
    await sendLate(service, {
      apiId,
      revoke: () => {
        isKnown = false;
      },
      headers: { "content-type": "application/json" },
    });
  });
});

describe("a host's own authentication", () => {
  const REQUEST = () => new Request("http://keys.test/v1/identities.listIdentities");

  test("replaces root keys, and decides on workspace and permissions", async () => {
    const service = await openService({
      authenticate: (request) =>
        request.headers.get("x-session") === "alice"
          ? { workspaceId: "ws_alice", permissions: ["api.*.create_api"] }
          : null,
    });
    const headers = { "x-session": "alice" };
    const { apiId } = await service.ok(
      "apis.createApi",
      { name: "hers" },
      { token: null, headers },
    );
    expect((await service.latchkey.workspace("ws_alice").getApi({ apiId })).name).toBe("hers");
    expect((await service.call("apis.getApi", { apiId }, { token: null, headers })).status).toBe(
      403,
    );
    const unknown = await service.call("apis.createApi", { name: "abc" });
    expect([unknown.status, unknown.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  test("is not called for public operations", async () => {
    const service = await openService({
      publicVerify: true,
      authenticate: () => {
        throw new Error("asked");
      },
    });
    expect((await service.call("liveness")).status).toBe(200);
    expect((await service.call("keys.verifyKey", { key: "x" })).status).toBe(200);
    expect((await service.call("identities.listIdentities")).status).toBe(500);
  });

  test("does not bypass a disabled workspace", async () => {
    const service = await openService({
      authenticate: async () => ({ workspaceId: "ws_off", permissions: ["*"] }),
    });
    await service.latchkey.workspace("ws_off").setWorkspaceEnabled(false);
    const { status, body } = await read(await service.send(REQUEST()));
    expect([status, body.error.message]).toEqual([403, "workspace is disabled"]);
  });

  test("and publicVerify answer verifications in a disabled workspace: FORBIDDEN, whatever was presented", async () => {
    for (const options of [
      { authenticate: async () => ({ workspaceId: "ws_default", permissions: ["*"] }) },
      { publicVerify: true },
    ]) {
      const service = await openService({ ...options, v2: true });
      const { apiId } = await service.latchkey.createApi({ name: "tides" });
      const { key, keyId } = await service.latchkey.createKey({ apiId });
      await service.latchkey.setWorkspaceEnabled(false);
      const ask = async (presented: string, path: string) => {
        const headers = { "Content-Type": "application/json" };
        const body = JSON.stringify({ key: presented });
        const request = new Request(`http://localhost${path}`, { method: "POST", headers, body });
        const { status, body: answer } = await read(await service.send(request));
        return [status, answer];
      };
      const refused = { valid: false, code: "FORBIDDEN" };
      expect(await ask(key, "/v1/keys.verifyKey")).toEqual([
        200,
        expect.objectContaining({ ...refused, keyId }),
      ]);
      for (const name of "publicVerify" in options
        ? ["keys.verifyKey"]
        : ["keys.verifyKey", "keys.reserve"]) {
        expect(await ask("no-such-key", `/v1/${name}`)).toEqual([
          200,
          { ...refused, requestId: expect.any(String) },
        ]);
        expect(await ask("no-such-key", `/v2/${name}`)).toEqual([
          200,
          expect.objectContaining({ data: refused }),
        ]);
      }
    }
  });

  test("that returns anything but a caller or null is reported", async () => {
    const odd: unknown[] = [undefined, 0, "", false, "*", [], {}, { workspaceId: "ws_default" }];
    for (const answer of odd) {
      const errors: unknown[] = [];
      const service = await openService({
        authenticate: () => answer as null,
        onError: (error) => errors.push(error),
      });
      expect((await service.send(REQUEST())).status).toBe(500);
      expect(errors).toEqual([
        new TypeError('"authenticate" must return null or { workspaceId, permissions, actor? }'),
      ]);
    }
  });

  test("that returns anything but a caller grants nothing", async () => {
    const odd: unknown[] = [
      undefined,
      {},
      true,
      "*",
      { workspaceId: "ws_default" },
      { workspaceId: "ws_default", permissions: "*" },
      { workspaceId: "ws_default", permissions: { includes: () => true } },
      { workspaceId: "ws_default", permissions: [["*"]] },
      { workspaceId: "../x", permissions: ["*"] },
      { workspaceId: "", permissions: ["*"] },
      { permissions: ["*"] },
      { workspaceId: "ws_default", permissions: ["*"], actor: 7 },
      { workspaceId: "ws_default", permissions: ["*"], actor: null },
      { workspaceId: "ws_default", permissions: ["*"], actor: "" },
      { workspaceId: "ws_default", permissions: ["*"], actor: "a".repeat(257) },
    ];
    for (const answer of odd) {
      const errors: unknown[] = [];
      const service = await openService({
        authenticate: () => answer as null,
        onError: (error) => errors.push(error),
      });
      const { status, body } = await read(await service.send(REQUEST()));
      expect([status, body.error.code]).toEqual([500, "INTERNAL_SERVER_ERROR"]);
      expect(errors).toEqual([expect.any(TypeError)]);
    }
    const service = await openService({
      authenticate: () => ({ workspaceId: "ws_default", permissions: [] }),
    });
    expect((await service.send(REQUEST())).status).toBe(403);
  });
});
