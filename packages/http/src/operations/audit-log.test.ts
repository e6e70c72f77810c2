import type { LatchkeyEvent } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { openService } from "../testing/open-service.js";

describe("audit.listAuditEvents", () => {
  test("names the root key that made a change, by its id", async () => {
    const service = await openService();
    const { rootKeyId, key: token } = await service.latchkey.createRootKey({
      permissions: ["api.*.create_api"],
    });
    const { apiId } = await service.ok("apis.createApi", { name: "payments" }, { token });
    const { events } = await service.ok("audit.listAuditEvents", { actor: rootKeyId });
    expect(events).toEqual([
      {
        id: expect.stringMatching(/^evt_/),
        type: "api.created",
        workspaceId: "ws_default",
        at: service.now(),
        actor: rootKeyId,
        resourceId: apiId,
        changes: [{ field: "name", after: "payments" }],
      },
    ]);
  });

  test("names the actor from the host, or no actor if the host gives none", async () => {
    const service = await openService({
      authenticate: (request) => {
        const actor = request.headers.get("x-user");
        return { workspaceId: "ws_default", permissions: ["*"], ...(actor && { actor }) };
      },
    });
    const named = { token: null, headers: { "x-user": "alice@example.com" } };
    await service.ok("apis.createApi", { name: "hers" }, named);
    await service.ok("apis.createApi", { name: "nobody's" }, { token: null });
    const { events } = await service.ok("audit.listAuditEvents", { limit: 2 }, { token: null });
    expect(events.map(({ actor }: { actor?: string }) => actor)).toEqual([
      undefined,
      "alice@example.com",
    ]);
  });

  test("comes in pages, the latest first, filtered by key", async () => {
    const service = await openService();
    const { apiId } = await service.ok("apis.createApi", { name: "payments" });
    const { keyId } = await service.ok("keys.createKey", { apiId });
    await service.ok("keys.updateKey", { keyId, name: "north" });
    const first = await service.ok("audit.listAuditEvents", { keyId, limit: 1 });
    expect(first.events).toMatchObject([{ type: "key.updated", keyId }]);
    const second = await service.ok("audit.listAuditEvents", {
      keyId,
      limit: 1,
      cursor: first.cursor,
    });
    expect(second.events).toMatchObject([{ type: "key.created", keyId }]);
    expect(second).not.toHaveProperty("cursor");
  });

  test.each([
    { input: { keyId: "key_1", actor: "a" }, path: "" },
    { input: { limit: 0 }, path: "limit" },
    { input: { limit: 101 }, path: "limit" },
    { input: { cursor: "damaged" }, path: "cursor" },
    { input: { since: "0" }, path: "since" },
  ])("answers 400 to $input", async ({ input, path }) => {
    const service = await openService();
    const { status, body } = await service.call("audit.listAuditEvents", input);
    expect([status, body.error.issues[0].path]).toEqual([400, path]);
  });

  test("shows nothing of another workspace to a root key", async () => {
    const service = await openService();
    await service.ok("apis.createApi", { name: "payments" });
    const { key: token } = await service.latchkey
      .workspace("ws_2")
      .createRootKey({ permissions: ["*"] });
    const { events } = await service.ok("audit.listAuditEvents", {}, { token });
    expect(events).toMatchObject([{ type: "root_key.created", workspaceId: "ws_2" }]);
  });

  test("contains no secret and no token", async () => {
    const service = await openService();
    const { apiId } = await service.ok("apis.createApi", { name: "payments" });
    const { key } = await service.ok("keys.createKey", { apiId, recoverable: true });
    const { text } = await service.call("audit.listAuditEvents");
    for (const secret of [key, service.root]) expect(text).not.toContain(secret);
  });
});

describe("audit.pruneAuditEvents", () => {
  test("deletes entries older than an instant", async () => {
    const service = await openService();
    await service.ok("apis.createApi", { name: "payments" });
    service.advance(1_000);
    await service.ok("apis.createApi", { name: "refunds" });
    const before = service.now();
    expect(await service.ok("audit.pruneAuditEvents", { before })).toEqual({ deleted: 2 });
    const { events } = await service.ok("audit.listAuditEvents");
    expect(events).toMatchObject([{ changes: [{ field: "name", after: "refunds" }] }]);
  });

  test("is 400 for an instant in the future, and without one", async () => {
    const service = await openService();
    const late = await service.call("audit.pruneAuditEvents", { before: service.now() + 1 });
    const none = await service.call("audit.pruneAuditEvents", {});
    expect([late.status, late.body.error.issues]).toEqual([
      400,
      [{ path: "before", message: "must not be later than now" }],
    ]);
    expect([none.status, none.body.error.issues[0].path]).toEqual([400, "before"]);
  });
});

test("events name the root key, too", async () => {
  const heard: LatchkeyEvent[] = [];
  const service = await openService({ onEvent: (event) => heard.push(event) });
  await service.ok("apis.createApi", { name: "payments" });
  const [created] = heard.filter(({ type }) => type === "api.created");
  expect(created).toHaveProperty("actor", expect.stringMatching(/^root_/));
});
