import { describe, expect, test } from "vitest";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("the audit log", (open) => {
  const typesOf = (list: { readonly events: readonly { readonly type: string }[] }) =>
    list.events.map(({ type }) => type);

  test("lists entries newest first, with their subject", async () => {
    const context = open();
    const { apiId, keyId } = await issue(context);
    context.advance(1_000);
    await context.latchkey.actingAs("harbour master").updateKey({ keyId, name: "north" });
    const { events, cursor } = await context.latchkey.listAuditEvents();
    expect(typesOf({ events })).toEqual(["key.updated", "key.created", "api.created"]);
    expect(events[0]).toEqual({
      id: expect.stringMatching(/^evt_[1-9A-HJ-NP-Za-km-z]{26}$/),
      type: "key.updated",
      workspaceId: "ws_default",
      at: NOON + 1_000,
      actor: "harbour master",
      resourceId: keyId,
      keyId,
      changes: [{ field: "name", after: "north" }],
    });
    expect(events[2]).not.toHaveProperty("actor");
    expect(events[2]).toMatchObject({ resourceId: apiId });
    expect(cursor).toBeUndefined();
  });

  test("comes in pages that contain each entry once, and the last page has no cursor", async () => {
    const context = open();
    for (let index = 0; index < 6; index += 1)
      await context.latchkey.createApi({ name: `tide tables ${index}` });
    const whole = await context.latchkey.listAuditEvents();
    const pages = [];
    let cursor: string | undefined;
    do {
      const page = await context.latchkey.listAuditEvents({ limit: 3, ...(cursor && { cursor }) });
      pages.push(page.events);
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(pages.map((page) => page.length)).toEqual([3, 3]);
    expect(pages.flat()).toEqual(whole.events);
  });

  test.each([
    { limit: 0, code: "BAD_REQUEST" },
    { limit: 1, code: undefined },
    { limit: 100, code: undefined },
    { limit: 101, code: "BAD_REQUEST" },
  ])("a page of $limit entries: $code", async ({ limit, code }) => {
    const { latchkey } = open();
    const outcome = await latchkey.listAuditEvents({ limit }).catch((error) => error);
    expect(outcome.code).toBe(code);
  });

  test("can be filtered by key, identity or actor", async () => {
    const context = open();
    const { keyId, apiId } = await issue(context, { externalId: "pier-7" });
    const { id: identityId } = await context.latchkey.getIdentity({ externalId: "pier-7" });
    await context.latchkey.actingAs("someone else").createKey({ apiId });
    await context.latchkey.updateIdentity({ identityId, meta: { berth: 4 } });
    const listed = async (filter: Parameters<typeof context.latchkey.listAuditEvents>[0]) =>
      typesOf(await context.latchkey.listAuditEvents(filter));
    expect(await listed({ keyId })).toEqual(["key.created"]);
    expect(await listed({ identityId })).toEqual([
      "identity.updated",
      "key.created",
      "identity.created",
    ]);
    expect(await listed({ actor: "someone else" })).toEqual(["key.created"]);
    expect(await listed({ actor: "nobody" })).toEqual([]);
    expect(await listed({ keyId: "key_unknown" })).toEqual([]);
  });

  test("names the identity that a key was linked to, even an existing one", async () => {
    const context = open();
    const { identityId } = await context.latchkey.createIdentity({ externalId: "pier-7" });
    const { keyId } = await issue(context, { externalId: "pier-7" });
    const { events } = await context.latchkey.listAuditEvents({ identityId });
    expect(events.map(({ resourceId }) => resourceId)).toEqual([keyId, identityId]);
  });

  test("accepts only one filter at a time", async () => {
    const { latchkey } = open();
    const error = await rejectionOf(latchkey.listAuditEvents({ keyId: "key_1", actor: "a" }));
    expect(error).toMatchObject({
      code: "BAD_REQUEST",
      message: "at most one of keyId, identityId and actor may be given",
    });
  });

  test("refuses a cursor of another list or workspace", async () => {
    const context = open();
    for (let index = 0; index < 3; index += 1)
      await context.latchkey.createApi({ name: `tide tables ${index}` });
    const { cursor } = await context.latchkey.listAuditEvents({ limit: 1 });
    const { cursor: ofApis } = await context.latchkey.listApis({ limit: 1 });
    const calls = [
      () => context.latchkey.listAuditEvents({ cursor: ofApis as string }),
      () => context.latchkey.workspace("ws_2").listAuditEvents({ cursor: cursor as string }),
      () => context.latchkey.listAuditEvents({ cursor: "damaged" }),
    ];
    for (const call of calls)
      expect((await rejectionOf(call())).issues).toMatchObject([{ path: "cursor" }]);
  });

  test("shows nothing of another workspace", async () => {
    const context = open();
    const { keyId } = await issue(context);
    const other = context.latchkey.workspace("ws_2");
    expect((await other.listAuditEvents()).events).toEqual([]);
    expect((await other.listAuditEvents({ keyId })).events).toEqual([]);
    expect(await other.pruneAuditEvents({ before: context.now() })).toEqual({ deleted: 0 });
  });

  test("contains nothing about refused changes", async () => {
    const context = open();
    const { apiId, keyId } = await issue(context);
    const before = await context.latchkey.listAuditEvents();
    const { latchkey } = context;
    const refused = [
      () => latchkey.createKey({ apiId: "api_unknown", externalId: "pier-7" }),
      () => latchkey.createKey({ apiId, roles: ["nope"], externalId: "pier-7" }),
      () => latchkey.updateKey({ keyId, permissions: [{ name: "new", create: true }, "nope"] }),
      () => latchkey.updateKey({ keyId: "key_unknown", name: "n" }),
      () => latchkey.updateRemaining({ keyId, op: "decrement", value: 1 }),
      () => latchkey.deleteKey({ keyId: "key_unknown" }),
      () => latchkey.deleteApi({ apiId: "api_unknown" }),
      () => latchkey.createRole({ name: "pilot", permissions: ["nope"] }),
      () => latchkey.revokeRootKey({ rootKeyId: "root_unknown" }),
      () => latchkey.updateRootKey({ rootKeyId: "root_unknown", name: "ops" }),
      () => latchkey.rotateRootKey({ rootKeyId: "root_unknown" }),
    ];
    for (const call of refused) expect(await rejectionOf(call())).toHaveProperty("code");
    expect(await latchkey.listAuditEvents()).toEqual(before);
  });

  test("contains no update that sets existing values, and no version rises", async () => {
    const events: string[] = [];
    const context = open({ onEvent: ({ type }) => events.push(type) });
    const { latchkey } = context;
    const limits = [{ name: "writes", limit: 3, duration: 1_000 }];
    const uses = { remaining: 5, refill: { interval: "daily", amount: 5 } } as const;
    const key = { name: "north", roles: ["pilot"], permissions: ["gates.open"], ...uses };
    const identity = { externalId: "pier-7", meta: { berth: 4 }, ratelimits: limits, ...uses };
    const api = { name: "tide tables", deleteProtection: true, ipWhitelist: ["::1"] };
    await latchkey.createPermission({ name: "gates.open" });
    const { roleId } = await latchkey.createRole({ name: "pilot", permissions: ["gates.open"] });
    await latchkey.createIdentity(identity);
    const { apiId } = await latchkey.createApi(api);
    const { keyId } = await latchkey.createKey({
      apiId,
      externalId: "pier-7",
      ratelimits: limits,
      ...key,
    });
    const stored = async () => {
      const { revision, found } = await context.store.read("ws_default", [
        { kind: "key", id: keyId },
        { kind: "identity", index: "externalId", value: "pier-7" },
        { kind: "api", id: apiId },
        { kind: "role", id: roleId },
        { kind: "workspace", id: "ws_default" },
      ]);
      return { revision, records: found.map((one) => one?.record), log: [...events] };
    };
    const before = await stored();
    context.advance(HOUR_MS);
    expect(
      await latchkey.updateKey({ keyId, externalId: "pier-7", ratelimits: limits, ...key }),
    ).toEqual({});
    await latchkey.updateKey({ keyId, enabled: true, expires: null, meta: null });
    expect(await latchkey.updateRemaining({ keyId, op: "set", value: 5 })).toEqual({
      remaining: 5,
    });
    expect((await latchkey.setRoles({ keyId, roles: ["pilot"] })).roles).toHaveLength(1);
    await latchkey.setPermissions({ keyId, permissions: [{ name: "gates.open", create: true }] });
    expect(await latchkey.updateIdentity(identity)).toMatchObject(identity);
    expect(await latchkey.updateApi({ apiId, ...api })).toEqual({});
    await latchkey.setRolePermissions({ roleId, permissions: ["gates.open", "gates.open"] });
    await latchkey.setWorkspaceEnabled(true);
    expect(await stored()).toEqual(before);
    expect((await latchkey.listAuditEvents()).events).toHaveLength(events.length);
  });

  test("contains an update that only repairs refills which a clock put ahead", async () => {
    const context = open();
    const { latchkey } = context;
    context.advance(DAY_MS);
    const { keyId } = await issue(context, {
      remaining: 5,
      refill: { interval: "daily", amount: 5 },
    });
    context.setClock(NOON);
    const elsewhere = context.another();
    await elsewhere.updateRemaining({ keyId, op: "set", value: 5 });
    await elsewhere.updateRemaining({ keyId, op: "set", value: 5 });
    const types = typesOf(await latchkey.listAuditEvents({ keyId }));
    expect(types.sort()).toEqual(["key.created", "key.updated"]);
  });

  test("has one entry for each concurrent call that changed something, and none for the losers", async () => {
    const context = open();
    const { keyId } = await issue(context);
    const racers = Array.from({ length: 8 }, (_, index) =>
      context.latchkey.rotateKey({ keyId, graceMs: index }).then(
        () => true,
        () => false,
      ),
    );
    const wins = (await Promise.all(racers)).filter((won) => won).length;
    const { events } = await context.latchkey.listAuditEvents();
    expect(wins).toBe(1);
    expect(typesOf({ events }).filter((type) => type === "key.rotated")).toHaveLength(1);
    expect(typesOf({ events }).filter((type) => type === "key.created")).toHaveLength(2);
  });

  test("contains an unbroken chain of concurrent changes: each starts where the previous one ended", async () => {
    const context = open();
    const { keyId } = await issue(context, { name: "name 0" });
    const racers = [context.latchkey, context.another(), context.another()];
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        racers[index % racers.length]?.updateKey({ keyId, name: `name ${index + 1}` }),
      ),
    );
    const { events } = await context.latchkey.listAuditEvents({ keyId });
    const updates = events.filter(({ type }) => type === "key.updated");
    const befores = updates.map(({ changes }) => changes[0]?.before);
    const afters = updates.map(({ changes }) => changes[0]?.after);
    const { name } = await context.latchkey.getKey({ keyId });
    expect(updates).toHaveLength(12);
    expect([...befores, name].sort()).toEqual(["name 0", ...afters].sort());
    expect(new Set(befores).size).toBe(12);
  });

  describe("pruning", () => {
    test("deletes entries from before an instant, and none at it or after it", async () => {
      const context = open();
      for (const at of [NOON - 1, NOON, NOON + 1]) {
        context.setClock(at);
        await context.another().createApi({ name: `tide tables at ${at}` });
      }
      expect(await context.latchkey.pruneAuditEvents({ before: NOON })).toEqual({ deleted: 1 });
      const { events } = await context.latchkey.listAuditEvents();
      expect(events.map(({ at }) => at)).toEqual([NOON + 1, NOON]);
      expect(await context.latchkey.pruneAuditEvents({ before: NOON })).toEqual({ deleted: 0 });
    });

    test("continues in steps until everything is done", async () => {
      const context = open();
      for (let page = 0; page < 6; page += 1) {
        const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
        await context.latchkey.createKeys(
          Array.from({ length: 100 }, (_, index) => ({
            apiId,
            plaintext: `imported secret ${page} ${index}`,
          })),
        );
      }
      context.advance(1);
      expect(await context.latchkey.pruneAuditEvents({ before: context.now() })).toEqual({
        deleted: 606,
      });
      expect((await context.latchkey.listAuditEvents()).events).toEqual([]);
    });

    test.each([
      { ahead: -1, code: undefined },
      { ahead: 0, code: undefined },
      { ahead: 1, code: "BAD_REQUEST" },
    ])("accepts an instant up to now: $ahead ms ahead of it, $code", async ({ ahead, code }) => {
      const { latchkey } = open();
      const call = latchkey.pruneAuditEvents({ before: NOON + ahead });
      const outcome = await call.catch((error) => error);
      expect(outcome.code).toBe(code);
    });

    test("keeps the entries of deleted keys until then", async () => {
      const context = open();
      const { keyId } = await issue(context);
      await context.latchkey.deleteKey({ keyId });
      context.advance(HOUR_MS);
      expect(typesOf(await context.latchkey.listAuditEvents({ keyId }))).toEqual([
        "key.deleted",
        "key.created",
      ]);
    });
  });
});
