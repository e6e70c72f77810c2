import type { KeyPermissions, KeyRoles, LatchkeyEvent } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { describeOnMemory, issue, rejectionOf, type TestContext } from "../test-context.js";
import { overtaken } from "../wrapped-store.js";

const NAMES = ["anchor", "buoy", "chart", "deck"];

/** The three operations on roles and the three on permissions, which must behave in the same way. */
const KINDS = [
  {
    kind: "roles",
    create: async ({ latchkey }: TestContext, name: string) =>
      (await latchkey.createRole({ name })).roleId,
    remove: ({ latchkey }: TestContext, roleId: string) => latchkey.deleteRole({ roleId }),
    list: ({ latchkey }: TestContext) => latchkey.listRoles(),
    add: ({ latchkey }: TestContext, keyId: string, items: readonly unknown[]) =>
      latchkey.addRoles({ keyId, roles: items as never }),
    set: ({ latchkey }: TestContext, keyId: string, items: readonly unknown[]) =>
      latchkey.setRoles({ keyId, roles: items as never }),
    take: ({ latchkey }: TestContext, keyId: string, items: readonly unknown[]) =>
      latchkey.removeRoles({ keyId, roles: items as never }),
    max: 100,
  },
  {
    kind: "permissions",
    create: async ({ latchkey }: TestContext, name: string) =>
      (await latchkey.createPermission({ name })).permissionId,
    remove: ({ latchkey }: TestContext, permissionId: string) =>
      latchkey.deletePermission({ permissionId }),
    list: ({ latchkey }: TestContext) => latchkey.listPermissions(),
    add: ({ latchkey }: TestContext, keyId: string, items: readonly unknown[]) =>
      latchkey.addPermissions({ keyId, permissions: items as never }),
    set: ({ latchkey }: TestContext, keyId: string, items: readonly unknown[]) =>
      latchkey.setPermissions({ keyId, permissions: items as never }),
    take: ({ latchkey }: TestContext, keyId: string, items: readonly unknown[]) =>
      latchkey.removePermissions({ keyId, permissions: items as never }),
    max: 1_000,
  },
] as const;

describe.each(KINDS)("$kind", ({ kind, create, remove, list, add, set, take, max }) => {
  describeOnMemory(`${kind} of a key`, (open) => {
    async function prepared(options: Parameters<typeof open>[0] = {}) {
      const context = open(options);
      const ids: Record<string, string> = {};
      for (const name of NAMES) ids[name] = await create(context, name);
      const { keyId, key, apiId } = await issue(context);
      const shown = (...names: string[]) => ({
        [kind]: names.map((name) => ({ id: ids[name], name })),
      });
      return { context, ids, keyId, key, apiId, shown };
    }

    test("never exceed the bound by repeated additions; beyond it, nothing is written", async () => {
      const { context, keyId } = await prepared();
      const named = (from: number, count: number) =>
        Array.from({ length: count }, (_, at) => ({ name: `name.${from + at}`, create: true }));
      await add(context, keyId, named(0, max - 1));
      const refusal = await rejectionOf(add(context, keyId, named(max - 1, 2)));
      expect(refusal).toMatchObject({
        code: "PRECONDITION_FAILED",
        message: `a key can hold at most ${max} ${kind} directly; nothing was written`,
      });
      expect(await list(context)).toHaveLength(NAMES.length + max - 1);
      const held = { [kind]: expect.objectContaining({ length: max }) };
      expect(await add(context, keyId, [...named(0, 2), ...named(max - 1, 1)])).toEqual(held);
      expect(await add(context, keyId, named(1, 3))).toEqual(held);
    });

    test("are added to existing ones by name and by id, and returned in ascending order", async () => {
      const { context, ids, keyId, key, shown } = await prepared();
      const other = context.another();
      expect(await other.verifyKey({ key })).toMatchObject({ [kind]: [] });
      expect(await add(context, keyId, ["deck", { name: "buoy" }])).toEqual(shown("buoy", "deck"));
      expect(await add(context, keyId, [{ id: ids.anchor }, "deck"])).toEqual(
        shown("anchor", "buoy", "deck"),
      );
      expect(await other.verifyKey({ key })).toMatchObject({ [kind]: ["anchor", "buoy", "deck"] });
    });

    test("are replaced by a given list; an empty list clears them", async () => {
      const { context, ids, keyId, key, shown } = await prepared();
      await add(context, keyId, ["anchor", "buoy"]);
      expect(await set(context, keyId, [{ id: ids.deck }, "buoy", "deck"])).toEqual(
        shown("buoy", "deck"),
      );
      expect(await context.latchkey.verifyKey({ key })).toMatchObject({ [kind]: ["buoy", "deck"] });
      expect(await set(context, keyId, [])).toEqual(shown());
      expect(await context.latchkey.verifyKey({ key })).toMatchObject({ [kind]: [] });
    });

    test("are removed by name and by id; ones that the key does not have are ignored", async () => {
      const { context, ids, keyId, key, shown } = await prepared();
      await add(context, keyId, NAMES);
      const other = context.another();
      expect(await other.verifyKey({ key })).toMatchObject({ [kind]: NAMES });
      expect(await take(context, keyId, ["anchor", { id: ids.chart }])).toEqual(
        shown("buoy", "deck"),
      );
      expect(await other.verifyKey({ key })).toMatchObject({ [kind]: ["buoy", "deck"] });
      expect(await take(context, keyId, ["anchor", { id: ids.chart }])).toEqual(
        shown("buoy", "deck"),
      );
      expect(await take(context, keyId, ["anchor", "deck", "deck"])).toEqual(shown("buoy"));
    });

    test("an id takes precedence over a name next to it", async () => {
      const { context, ids, keyId, shown } = await prepared();
      expect(await add(context, keyId, [{ id: ids.deck, name: "anchor" }])).toEqual(shown("deck"));
      await add(context, keyId, ["anchor"]);
      expect(await take(context, keyId, [{ id: ids.deck, name: "anchor" }])).toEqual(
        shown("anchor"),
      );
    });

    test("every item of a mixed list counts, and a repeated one counts once", async () => {
      const { context, ids, keyId } = await prepared();
      const items = [
        "anchor",
        { id: ids.anchor },
        { id: ids.buoy },
        { name: "buoy" },
        { name: "fender", create: true },
        { name: "fender", create: true },
        { name: "chart", create: true },
      ];
      const answer: Partial<KeyRoles & KeyPermissions> = await add(context, keyId, items);
      expect(answer[kind]?.map(({ name }) => name)).toEqual(["anchor", "buoy", "chart", "fender"]);
      expect(await list(context)).toHaveLength(5);
    });

    test("create creates missing ones in the same write, or none of them", async () => {
      const { context, keyId } = await prepared();
      const items = [{ name: "fender", create: true }, "ghost"];
      for (const change of [add, set])
        expect(await rejectionOf(change(context, keyId, items))).toMatchObject({
          code: "PRECONDITION_FAILED",
        });
      expect(await list(context)).toHaveLength(4);
      await set(context, keyId, items.slice(0, 1));
      expect(await list(context)).toMatchObject([...NAMES, "fender"].map((name) => ({ name })));
    });

    test("all missing ones are named in the refusal, and nothing is changed", async () => {
      const { context, keyId, key } = await prepared();
      const theirs = context.latchkey.workspace("ws_other");
      await create({ ...context, latchkey: theirs }, "theirs");
      await add(context, keyId, ["anchor"]);
      const items = ["ghost", "buoy", { id: "role_none" }, { name: "theirs", create: false }];
      for (const change of [add, set, take]) {
        const error = await rejectionOf(change(context, keyId, [...items, "anchor", "ghost"]));
        expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
        for (const missing of ["ghost", "role_none", "theirs"])
          expect(error.message.split(missing)).toHaveLength(2);
        expect(error.message).not.toMatch(/anchor|buoy/);
        expect(await context.latchkey.verifyKey({ key })).toMatchObject({ [kind]: ["anchor"] });
      }
    });

    test("the id of an existing grant is not read as a name", async () => {
      const { context, ids, keyId } = await prepared();
      await add(context, keyId, ["anchor"]);
      for (const change of [add, set, take]) {
        const error = await rejectionOf(change(context, keyId, [ids.anchor, "buoy"]));
        expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
        expect(error.message).toContain(ids.anchor);
      }
    });

    test("removing creates nothing, even with create", async () => {
      const { context, keyId } = await prepared();
      const error = await rejectionOf(take(context, keyId, [{ name: "fender", create: true }]));
      expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
      expect(await list(context)).toHaveLength(4);
    });

    test.each([[{}], [{ create: true }], [""], [7], [null], [{ name: "a b" }], [{ id: 1 }]])(
      "an item %j is refused by its place",
      async (item) => {
        const { context, keyId } = await prepared();
        for (const change of [add, set, take]) {
          const error = await rejectionOf(change(context, keyId, ["anchor", item]));
          const [issue] = error.issues as { path: string }[];
          expect(error).toMatchObject({ code: "BAD_REQUEST" });
          expect(issue?.path).toMatch(new RegExp(`^${kind}\\.1`));
        }
      },
    );

    test("a call accepts an empty list, and as many items as allowed", async () => {
      const { context, keyId, shown } = await prepared();
      await add(context, keyId, ["anchor"]);
      const items = (count: number) => Array.from({ length: count }, () => "anchor");
      for (const change of [add, take])
        expect(await change(context, keyId, [])).toEqual(shown("anchor"));
      for (const change of [add, set]) {
        expect(await change(context, keyId, items(max))).toEqual(shown("anchor"));
        expect(await rejectionOf(change(context, keyId, items(max + 1)))).toMatchObject({
          code: "BAD_REQUEST",
        });
      }
    });

    test("of an unknown key, a deleted one or one of another workspace are not found", async () => {
      const { context, keyId } = await prepared();
      const theirs = { ...context, latchkey: context.latchkey.workspace("ws_other") };
      await create(theirs, "anchor");
      for (const change of [add, set, take]) {
        for (const [who, id] of [
          [theirs, keyId],
          [context, "key_none"],
        ] as const)
          expect(await rejectionOf(change(who, id, ["anchor"]))).toMatchObject({
            code: "NOT_FOUND",
          });
      }
      await context.latchkey.deleteKey({ keyId });
      for (const change of [add, set, take])
        expect(await rejectionOf(change(context, keyId, ["anchor"]))).toMatchObject({
          code: "NOT_FOUND",
        });
    });

    test("no concurrent addition or removal is lost", async () => {
      const { context, keyId, key } = await prepared();
      await add(context, keyId, ["anchor", "buoy"]);
      const added = Array.from({ length: 12 }, (_, at) => `extra.${at + 10}`);
      await Promise.all([
        ...added.map((name) =>
          add({ ...context, latchkey: context.another() }, keyId, [{ name, create: true }]),
        ),
        take({ ...context, latchkey: context.another() }, keyId, ["anchor"]),
        context.another().updateKey({ keyId, name: "meanwhile" }),
      ]);
      expect(await context.latchkey.verifyKey({ key })).toMatchObject({
        [kind]: ["buoy", ...added],
        name: "meanwhile",
      });
    });

    test("one that many concurrent calls create is created once", async () => {
      const { context, apiId } = await prepared();
      const keys = await Promise.all(
        Array.from({ length: 5 }, () => context.latchkey.createKey({ apiId })),
      );
      const answers = await Promise.all(
        keys.map(({ keyId }) =>
          add({ ...context, latchkey: context.another() }, keyId, [
            { name: "fender", create: true },
          ]),
        ),
      );
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(await list(context)).toHaveLength(5);
    });

    test("an existing grant that is deleted meanwhile does not prevent others", async () => {
      for (const change of [add, take]) {
        const { context, ids, keyId, shown } = await prepared();
        await add(context, keyId, ["anchor", "buoy", "deck"]);
        const store = overtaken(context.store, () => remove(context, ids.anchor as string));
        const latchkey = context.another({ store });
        const answer = await change({ ...context, latchkey }, keyId, [
          change === add ? "chart" : "deck",
        ]);
        expect(answer).toEqual(change === add ? shown("buoy", "chart", "deck") : shown("buoy"));
      }
    });

    test("a new one with the same name that replaces it meanwhile is not granted", async () => {
      const { context, ids, keyId, shown } = await prepared();
      await add(context, keyId, ["anchor", "buoy"]);
      const store = overtaken(context.store, async () => {
        await remove(context, ids.anchor as string);
        await create(context, "anchor");
      });
      const latchkey = context.another({ store });
      expect(await add({ ...context, latchkey }, keyId, ["chart"])).toEqual(shown("buoy", "chart"));
    });

    test("a requested one that is deleted meanwhile is refused by name", async () => {
      const { context, ids, keyId, key } = await prepared();
      await add(context, keyId, ["anchor"]);
      const store = overtaken(context.store, () => remove(context, ids.chart as string));
      const latchkey = context.another({ store });
      const error = await rejectionOf(add({ ...context, latchkey }, keyId, ["chart", "buoy"]));
      expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
      expect(error.message).toMatch(/ chart$/);
      expect(await context.latchkey.verifyKey({ key })).toMatchObject({ [kind]: ["anchor"] });
    });

    test("are in events and in the audit log by name, together with created ones, unless nothing changed", async () => {
      const events: LatchkeyEvent[] = [];
      const { context, ids, keyId } = await prepared({ onEvent: (event) => events.push(event) });
      events.length = 0;
      await add(context, keyId, ["deck", { name: "fender", create: true }]);
      await add(context, keyId, [{ id: ids.deck }, "fender", { name: "deck", create: true }]);
      await take(context, keyId, [{ id: ids.deck }, "anchor"]);
      await take(context, keyId, ["anchor"]);
      await set(context, keyId, []);
      const kindOf = kind === "roles" ? "role" : "permission";
      const expected = [
        { type: `${kindOf}.created`, changes: [{ field: "name", after: "fender" }] },
        { type: "key.updated", changes: [{ field: kind, after: ["deck", "fender"] }] },
        {
          type: "key.updated",
          changes: [{ field: kind, before: ["deck", "fender"], after: ["fender"] }],
        },
        { type: "key.updated", keyId, changes: [{ field: kind, before: ["fender"] }] },
      ];
      expect(events).toMatchObject(expected);
      const { events: entries } = await context.latchkey.listAuditEvents({ keyId, limit: 3 });
      expect(entries.map(({ type }) => type)).toEqual([
        "key.updated",
        "key.updated",
        "key.updated",
      ]);
    });
  });
});

describeOnMemory("roles and permissions of a key", (open) => {
  test("permissions of a role are no permissions of the key itself", async () => {
    const context = open();
    for (const name of ["tides.read", "tides.write"])
      await context.latchkey.createPermission({ name });
    await context.latchkey.createRole({ name: "pilot", permissions: ["tides.read"] });
    const { keyId, key } = await issue(context, { roles: ["pilot"] });
    const answer = await context.latchkey.addPermissions({ keyId, permissions: ["tides.write"] });
    expect(answer.permissions.map(({ name }) => name)).toEqual(["tides.write"]);
    await context.latchkey.removePermissions({ keyId, permissions: ["tides.read"] });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      roles: ["pilot"],
      permissions: ["tides.read", "tides.write"],
    });
  });

  test("a change of roles keeps permissions, and the reverse, and everything else of the key", async () => {
    const context = open();
    await context.latchkey.createPermission({ name: "tides.read" });
    await context.latchkey.createRole({ name: "pilot" });
    const { keyId } = await issue(context, {
      roles: ["pilot"],
      permissions: ["tides.read"],
      remaining: 5,
      name: "server 1",
      expires: context.now() + 1_000,
      ratelimit: { limit: 3, duration: 1_000 },
    });
    const before = await context.latchkey.getKey({ keyId });
    await context.latchkey.setRoles({ keyId, roles: [] });
    const after = { ...before, roles: [], updatedAt: context.now() };
    expect(await context.latchkey.getKey({ keyId })).toEqual(after);
    await context.latchkey.setPermissions({ keyId, permissions: [] });
    expect(await context.latchkey.getKey({ keyId })).toEqual({ ...after, permissions: [] });
  });
});
