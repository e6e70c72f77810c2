import type { LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnMemory, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("listRootKeys", (open) => {
  test("lists the root keys of the workspace in the order of creation, without secrets", async () => {
    const context = open();
    await context.latchkey.workspace("ws_other").createRootKey({ permissions: ["*"] });
    const deploys = { permissions: ["api.*.read_key", "api.*.read_api"], name: "deploys" };
    const first = await context.latchkey.createRootKey({ ...deploys, expires: NOON + 5 });
    context.advance(1);
    const second = await context.latchkey.createRootKey({ permissions: ["*"] });
    const list = await context.latchkey.listRootKeys();
    expect(list).toEqual({
      rootKeys: [
        {
          id: first.rootKeyId,
          start: expect.stringMatching(/^lk_root_/),
          ...deploys,
          expires: NOON + 5,
          enabled: true,
          createdAt: NOON,
        },
        {
          id: second.rootKeyId,
          start: expect.stringMatching(/^lk_root_/),
          permissions: ["*"],
          enabled: true,
          createdAt: NOON + 1,
        },
      ],
      total: 2,
    });
    expect(first.key.startsWith(list.rootKeys[0]?.start as string)).toBe(true);
    expect(JSON.stringify(list)).not.toContain(first.key);
  });

  test("shows a root key as disabled from its expiry on", async () => {
    const context = open();
    await context.latchkey.createRootKey({ permissions: ["*"], expires: NOON + 5 });
    const enabledAt = async (instant: number) => {
      context.setClock(instant);
      return (await context.another().listRootKeys()).rootKeys[0]?.enabled;
    };
    expect(await enabledAt(NOON + 4)).toBe(true);
    expect(await enabledAt(NOON + 5)).toBe(false);
    expect(await enabledAt(NOON + 6)).toBe(false);
  });

  test("returns pages, and accepts only its own cursors", async () => {
    const { latchkey } = open();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1)
      ids.push((await latchkey.createRootKey({ permissions: ["*"] })).rootKeyId);
    const first = await latchkey.listRootKeys({ limit: 2 });
    expect([first.rootKeys.map(({ id }) => id), first.total]).toEqual([ids.slice(0, 2), 3]);
    const second = await latchkey.listRootKeys({ limit: 2, cursor: first.cursor as string });
    expect(second).toMatchObject({ rootKeys: [{ id: ids[2] }], total: 3 });
    expect(second).not.toHaveProperty("cursor");

    const other = latchkey.workspace("ws_other");
    for (const call of [
      latchkey.listApis({ cursor: first.cursor as string }),
      other.listRootKeys({ cursor: first.cursor as string }),
      latchkey.listRootKeys({ cursor: "x" }),
      latchkey.listRootKeys({ limit: 0 }),
      latchkey.listRootKeys({ limit: 101 }),
    ])
      expect(await rejectionOf(call)).toMatchObject({ code: "BAD_REQUEST" });
  });
});

describeOnMemory("revokeRootKey", (open) => {
  test("makes a root key unusable for every later call, in every process", async () => {
    const context = open();
    const other = context.another();
    const gone = await context.latchkey.createRootKey({ permissions: ["*"] });
    const kept = await context.latchkey.createRootKey({ permissions: ["*"] });
    expect(await other.authenticateRootKey(gone.key)).toMatchObject({ kind: "authenticated" });
    expect(await context.latchkey.revokeRootKey({ rootKeyId: gone.rootKeyId })).toEqual({});
    expect(await other.authenticateRootKey(gone.key)).toEqual({ kind: "refused" });
    expect(await other.authenticateRootKey(kept.key)).toMatchObject({ kind: "authenticated" });
    expect(await other.listRootKeys()).toMatchObject({
      rootKeys: [{ id: kept.rootKeyId }],
      total: 1,
    });
  });

  test("is NOT_FOUND for an unknown root key, a revoked one, or one of another workspace", async () => {
    const { latchkey } = open();
    const { rootKeyId, key } = await latchkey.createRootKey({ permissions: ["*"] });
    for (const call of [
      latchkey.workspace("ws_other").revokeRootKey({ rootKeyId }),
      latchkey.revokeRootKey({ rootKeyId: "root_none" }),
      latchkey.revokeRootKey({ rootKeyId: key }),
    ]) {
      const error = await rejectionOf(call);
      expect(error).toMatchObject({ code: "NOT_FOUND" });
      expect(error.message).not.toContain(key);
    }
    expect(await latchkey.authenticateRootKey(key)).toMatchObject({ kind: "authenticated" });
    await latchkey.revokeRootKey({ rootKeyId });
    expect(await rejectionOf(latchkey.revokeRootKey({ rootKeyId }))).toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("succeeds for one of several racing calls", async () => {
    const context = open();
    const { rootKeyId } = await context.latchkey.createRootKey({ permissions: ["*"] });
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => context.another().revokeRootKey({ rootKeyId })),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("is emitted and logged, once", async () => {
    const events: LatchkeyEvent[] = [];
    const context = open({ onEvent: (event) => events.push(event) });
    const { rootKeyId, key } = await context.latchkey.createRootKey({ permissions: ["*"] });
    await context.latchkey.actingAs("ada").revokeRootKey({ rootKeyId });
    await rejectionOf(context.latchkey.revokeRootKey({ rootKeyId }));
    expect(events).toMatchObject([
      { type: "root_key.created", resourceId: rootKeyId },
      { type: "root_key.revoked", resourceId: rootKeyId, actor: "ada", at: NOON },
    ]);
    const { events: entries } = await context.latchkey.listAuditEvents();
    expect(entries.map(({ type }) => type)).toEqual(["root_key.revoked", "root_key.created"]);
    expect(JSON.stringify([events, entries])).not.toContain(key);
  });
});
