import type { LatchkeyEvent } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { describeOnMemory, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("listApis", (open) => {
  test("lists the APIs of the workspace in the order of their creation, page by page", async () => {
    const { latchkey } = open();
    await latchkey.workspace("ws_other").createApi({ name: "not to be seen" });
    const ids: string[] = [];
    for (const name of ["tide tables", "harbour gates", "lighthouses"])
      ids.push((await latchkey.createApi({ name })).apiId);

    const first = await latchkey.listApis({ limit: 2 });
    expect(first.total).toBe(3);
    expect(first.apis).toEqual([
      { id: ids[0], name: "tide tables", workspaceId: "ws_default" },
      { id: ids[1], name: "harbour gates", workspaceId: "ws_default" },
    ]);
    const second = await latchkey.listApis({ limit: 2, cursor: first.cursor as string });
    expect(second).toEqual({
      apis: [{ id: ids[2], name: "lighthouses", workspaceId: "ws_default" }],
      total: 3,
    });
    expect(await latchkey.listApis({ limit: 3 })).not.toHaveProperty("cursor");
    expect((await latchkey.listApis()).apis).toHaveLength(3);
  });

  test("returns an empty list for a workspace without APIs", async () => {
    const { latchkey } = open();
    expect(await latchkey.listApis()).toEqual({ apis: [], total: 0 });
  });

  test("no longer counts deleted APIs", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createApi({ name: "harbour gates" });
    await latchkey.deleteApi({ apiId });
    expect(await latchkey.listApis()).toMatchObject({
      total: 1,
      apis: [{ name: "harbour gates" }],
    });
  });

  test("accepts only its own cursors, and a limit of 1 to 100", async () => {
    const { latchkey } = open();
    for (const externalId of ["a", "b"]) await latchkey.createIdentity({ externalId });
    const { cursor } = await latchkey.listIdentities({ limit: 1 });
    for (const foreign of [cursor as string, "x", ""]) {
      const error = await rejectionOf(latchkey.listApis({ cursor: foreign }));
      expect(error).toMatchObject({ code: "BAD_REQUEST", issues: [{ path: "cursor" }] });
    }
    for (const limit of [0, 101]) {
      const error = await rejectionOf(latchkey.listApis({ limit }));
      expect(error).toMatchObject({ code: "BAD_REQUEST", issues: [{ path: "limit" }] });
    }
    for (const limit of [1, 100]) expect(await latchkey.listApis({ limit })).toBeDefined();
  });
});

describeOnMemory("updateApi", (open) => {
  test("changes given fields and keeps omitted ones; getApi shows the result", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const shown = { id: apiId, name: "tide tables", workspaceId: "ws_default" };
    expect(await latchkey.getApi({ apiId })).toEqual(shown);

    expect(await latchkey.updateApi({ apiId, name: "tides" })).toEqual({});
    expect(await latchkey.getApi({ apiId })).toEqual({ ...shown, name: "tides" });

    await latchkey.updateApi({ apiId, deleteProtection: true, ipWhitelist: ["10.0.0.0/8"] });
    expect(await latchkey.getApi({ apiId })).toEqual({
      ...shown,
      name: "tides",
      deleteProtection: true,
      ipWhitelist: ["10.0.0.0/8"],
    });

    await latchkey.updateApi({ apiId, deleteProtection: false, ipWhitelist: null });
    expect(await latchkey.getApi({ apiId })).toEqual({ ...shown, name: "tides" });
  });

  test("an empty allow-list removes it, and an empty update changes nothing", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({
      name: "tide tables",
      deleteProtection: true,
      ipWhitelist: ["::1"],
    });
    const before = await latchkey.getApi({ apiId });
    expect(before).toMatchObject({ deleteProtection: true, ipWhitelist: ["::1"] });
    expect(await latchkey.updateApi({ apiId })).toEqual({});
    expect(await latchkey.getApi({ apiId })).toEqual(before);
    await latchkey.updateApi({ apiId, ipWhitelist: [] });
    expect(await latchkey.getApi({ apiId })).not.toHaveProperty("ipWhitelist");
  });

  test("stores addresses and ranges in their canonical form, each once, in the given order", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const ipWhitelist = [
      "2001:DB8::0/32",
      "192.0.2.7/32",
      "::ffff:192.0.2.7",
      "::ffff:10.0.0.0/104",
    ];
    await latchkey.updateApi({ apiId, ipWhitelist });
    expect(await latchkey.getApi({ apiId })).toMatchObject({
      ipWhitelist: ["2001:db8::/32", "192.0.2.7", "10.0.0.0/8"],
    });
  });

  test("refuses invalid addresses by their place, and then changes nothing", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const message =
      "must be an IPv4 or IPv6 address, or a CIDR range without bits set beyond its prefix, such as 192.0.2.0/24";
    const ipWhitelist = ["10.0.0.0/8", "10.1.2.3/8", "nonsense", 7 as never, "::1"];
    const error = await rejectionOf(latchkey.updateApi({ apiId, name: "tides", ipWhitelist }));
    expect(error).toMatchObject({
      code: "BAD_REQUEST",
      issues: [1, 2, 3].map((index) => ({ path: `ipWhitelist.${index}`, message })),
    });
    expect(error.message).not.toContain("nonsense");
    expect(await latchkey.getApi({ apiId })).toMatchObject({ name: "tide tables" });
  });

  test("accepts at most 1,000 entries, and a name of 3 to 256 characters", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const entries = (count: number) =>
      Array.from({ length: count }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    await latchkey.updateApi({ apiId, ipWhitelist: entries(1_000) });
    expect((await latchkey.getApi({ apiId })).ipWhitelist).toHaveLength(1_000);
    const tooMany = await rejectionOf(latchkey.updateApi({ apiId, ipWhitelist: entries(1_001) }));
    expect(tooMany).toMatchObject({
      code: "BAD_REQUEST",
      issues: [
        { path: "ipWhitelist", message: "must be a list of at most 1000 addresses and ranges" },
      ],
    });
    for (const length of [3, 256]) await latchkey.updateApi({ apiId, name: "x".repeat(length) });
    for (const length of [2, 257]) {
      const error = await rejectionOf(latchkey.updateApi({ apiId, name: "x".repeat(length) }));
      expect(error).toMatchObject({ code: "BAD_REQUEST", issues: [{ path: "name" }] });
    }
  });

  test.each([{ name: null }, { deleteProtection: null }, { deleteProtection: "no" }, { ip: [] }])(
    "refuses %j",
    async (fields) => {
      const { latchkey } = open();
      const { apiId } = await latchkey.createApi({ name: "tide tables" });
      const error = await rejectionOf(latchkey.updateApi({ apiId, ...(fields as object) }));
      expect(error).toMatchObject({
        code: "BAD_REQUEST",
        issues: [{ path: Object.keys(fields)[0] }],
      });
    },
  );

  test("does not find an unknown API, a deleted one, or one of another workspace", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { apiId: deleted } = await latchkey.createApi({ name: "harbour gates" });
    await latchkey.deleteApi({ apiId: deleted });
    const other = latchkey.workspace("ws_other");
    for (const call of [
      latchkey.updateApi({ apiId: "api_none", name: "taken over" }),
      latchkey.updateApi({ apiId: deleted, name: "taken over" }),
      latchkey.updateApi({ apiId: deleted }),
      other.updateApi({ apiId, name: "taken over" }),
    ])
      expect(await rejectionOf(call)).toMatchObject({ code: "NOT_FOUND" });
    expect((await latchkey.getApi({ apiId })).name).toBe("tide tables");
  });

  test("loses none of several concurrent updates of different fields", async () => {
    const context = open();
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const other = context.another();
    await Promise.all([
      context.latchkey.updateApi({ apiId, name: "tides" }),
      other.updateApi({ apiId, deleteProtection: true }),
      context.latchkey.updateApi({ apiId, ipWhitelist: ["::1"] }),
    ]);
    expect(await context.latchkey.getApi({ apiId })).toMatchObject({
      name: "tides",
      deleteProtection: true,
      ipWhitelist: ["::1"],
    });
  });

  test("is emitted and logged field by field, and not at all if nothing was given", async () => {
    const events: LatchkeyEvent[] = [];
    const context = open({ onEvent: (event) => events.push(event) });
    const { apiId } = await context.latchkey.createApi({
      name: "tide tables",
      ipWhitelist: ["::1"],
    });
    await context.latchkey.updateApi({ apiId });
    await context.latchkey
      .actingAs("root_1")
      .updateApi({ apiId, name: "tides", ipWhitelist: null, deleteProtection: false });
    expect(events.map(({ type }) => type)).toEqual(["api.created", "api.updated"]);
    expect(events[1]).toMatchObject({
      at: NOON,
      actor: "root_1",
      resourceId: apiId,
      changes: [
        { field: "name", before: "tide tables", after: "tides" },
        { field: "ipWhitelist", before: ["::1"] },
      ],
    });
    const { events: entries } = await context.latchkey.listAuditEvents();
    expect(entries.map(({ type }) => type)).toEqual(["api.updated", "api.created"]);
  });
});

describeOnMemory("a protected API", (open) => {
  test("is not deleted, nor is any of its keys, until the protection is removed", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables", deleteProtection: true });
    const { key } = await latchkey.createKey({ apiId });
    expect(await rejectionOf(latchkey.deleteApi({ apiId }))).toMatchObject({
      code: "DELETE_PROTECTED",
    });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    expect(await latchkey.listApis()).toMatchObject({ total: 1 });
    await latchkey.updateApi({ apiId, deleteProtection: false });
    await latchkey.deleteApi({ apiId });
    expect(await latchkey.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
  });
});

describeOnMemory("an allow-list of addresses", (open) => {
  async function restricted(ipWhitelist: string[]) {
    const context = open();
    const { apiId } = await context.latchkey.createApi({ name: "tide tables", ipWhitelist });
    const { key } = await context.latchkey.createKey({ apiId, remaining: 5 });
    return { context, apiId, key };
  }

  test("admits its addresses and refuses others as FORBIDDEN, without taking a use", async () => {
    const { context, key } = await restricted(["192.0.2.0/24", "2001:db8::/32"]);
    const from = async (ipAddress: string) =>
      (await context.latchkey.verifyKey({ key, ipAddress })).code;
    expect(await from("192.0.2.255")).toBe("VALID");
    expect(await from("::ffff:192.0.2.0")).toBe("VALID");
    expect(await from("2001:db8:ffff::1")).toBe("VALID");
    expect(await from("192.0.3.0")).toBe("FORBIDDEN");
    expect(await from("2001:db9::")).toBe("FORBIDDEN");
    expect(await context.latchkey.verifyKey({ key, ipAddress: "192.0.2.1" })).toMatchObject({
      remaining: 1,
    });
  });

  test("refuses a key that comes without an address", async () => {
    const { context, key } = await restricted(["0.0.0.0/0", "::/0"]);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      valid: false,
      code: "FORBIDDEN",
    });
    expect(await context.latchkey.verifyKey({ key, ipAddress: "8.8.8.8" })).toMatchObject({
      valid: true,
    });
  });

  test("applies from the next verification of a cached key, when it is set and when it is cleared", async () => {
    const context = open();
    const other = context.another();
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const { key } = await context.latchkey.createKey({ apiId });
    expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
    await context.latchkey.updateApi({ apiId, ipWhitelist: ["10.0.0.0/8"] });
    expect(await other.verifyKey({ key, ipAddress: "11.0.0.0" })).toMatchObject({
      code: "FORBIDDEN",
    });
    expect(await other.verifyKey({ key, ipAddress: "10.0.0.0" })).toMatchObject({ valid: true });
    await context.latchkey.updateApi({ apiId, ipWhitelist: [] });
    expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("reads an address with a port, as proxies write it", async () => {
    const { context, key } = await restricted(["10.0.0.0/8", "2001:db8::/32"]);
    for (const [ipAddress, code] of [
      ["10.0.0.1:51234", "VALID"],
      ["[2001:db8::1]:51234", "VALID"],
      ["11.0.0.1:51234", "FORBIDDEN"],
    ] as const)
      expect(await context.latchkey.verifyKey({ key, ipAddress })).toMatchObject({ code });
  });

  test("applies only to the keys of its own API", async () => {
    const { context } = await restricted(["10.0.0.0/8"]);
    const { apiId } = await context.latchkey.createApi({ name: "harbour gates" });
    const { key } = await context.latchkey.createKey({ apiId });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test.each(["10.0.0.0.0", "010.0.0.1", "10.0.0.0/8", "localhost", "", "10.0.0.1:x", 7, null])(
    "an address of %j is refused by name, with and without an allow-list, for any key",
    async (ipAddress) => {
      const { context, key } = await restricted([]);
      for (const secret of [key, "unknown"]) {
        const error = await rejectionOf(
          context.latchkey.verifyKey({ key: secret, ipAddress: ipAddress as never }),
        );
        expect(error).toMatchObject({
          code: "BAD_REQUEST",
          issues: [
            {
              path: "ipAddress",
              message: "must be an IPv4 or IPv6 address, such as 192.0.2.7 or 2001:db8::7",
            },
          ],
        });
      }
    },
  );

  describe("and a requestId", () => {
    test("the address belongs to the question, in its canonical form", async () => {
      const { context, key } = await restricted(["10.0.0.0/8"]);
      const ask = (ipAddress: string) =>
        context.latchkey.verifyKey({ key, ipAddress, requestId: "retry-1" });
      const first = await ask("10.0.0.1");
      expect(first).toMatchObject({ valid: true, remaining: 4 });
      expect(await ask("::ffff:10.0.0.1")).toEqual(first);
      expect(await rejectionOf(ask("10.0.0.2"))).toMatchObject({ code: "CONFLICT" });
      expect(await ask("11.0.0.1")).toMatchObject({ code: "FORBIDDEN" });
    });
  });
});
