import { LatchkeyError } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { DAMAGES } from "./damage.js";
import { liveLife, OTHERS, sumsOf, THEIRS } from "./erasing.js";
import { describeOnEveryStore } from "./every-store.js";
import {
  describeOnMemory,
  expectRefused,
  rejectionOf,
  type TestContext,
  workspacesOf,
} from "./test-context.js";
import { overtaken, wrapped } from "./wrapped-store.js";

const TEXTS = Object.values(THEIRS);

/** Everything that the operations show, newest first. */
async function shown({ latchkey }: TestContext) {
  const events = [];
  for await (const event of latchkey.auditEvents()) events.push(event);
  const keys = [];
  for await (const { id } of latchkey.apis())
    for await (const key of latchkey.keysOf({ apiId: id })) keys.push(key);
  const identities = [];
  for await (const { id } of latchkey.identities())
    identities.push(await latchkey.getIdentity({ identityId: id }));
  return { events, keys, identities };
}

async function expectErased(context: TestContext, life: Awaited<ReturnType<typeof liveLife>>) {
  const { latchkey } = context;
  const left = await shown(context);
  const text = JSON.stringify(left);
  expect(TEXTS.filter((each) => text.includes(each))).toEqual([]);
  expect(text).toContain(OTHERS.externalId);
  expect(text).toContain(OTHERS.keyName);
  for (const key of life.secrets)
    expect((await latchkey.verifyKey({ key })).code).toBe("NOT_FOUND");
  for (const key of life.kept) expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
  return left.events;
}

describeOnEveryStore("erasing", (open) => {
  test("B2: entries about resets of limits that count for their externalId do not name it any more", async () => {
    const { latchkey } = open();
    const limit = { namespace: "mail", identifier: "pier-7", duration: 60_000 };
    await latchkey.limit({ ...limit, limit: 5 });
    await latchkey.resetLimit(limit);
    await latchkey.createIdentity({ externalId: "pier-7" });
    await latchkey.resetLimit({ ...limit, identifier: "pier-77" });
    await latchkey.resetLimit(limit);
    const { erasedEvents } = await latchkey.eraseIdentity({ externalId: "pier-7" });
    expect(erasedEvents).toBe(4);
    const { events } = await latchkey.listAuditEvents({});
    expect(JSON.stringify(events)).not.toContain('"pier-7"');
    const resets = events.filter(({ type }) => type === "ratelimit.reset");
    expect(resets.map(({ resourceId, erased, changes }) => [resourceId, erased, changes])).toEqual([
      ["mail", true, []],
      ["mail", undefined, [{ field: "name", before: "pier-77" }]],
      ["mail", true, []],
    ]);
    const again = latchkey.eraseIdentity({ externalId: "pier-7" });
    expect((await rejectionOf(again)).code).toBe("NOT_FOUND");
  });

  test("B2: nothing of theirs is shown, ids, types and instants stay, and one entry says that it happened", async () => {
    const context = open();
    const life = await liveLife(context.latchkey);
    const before = (await shown(context)).events;
    const answer = await context.latchkey.eraseIdentity({ externalId: THEIRS.externalId });
    expect(answer).toMatchObject({ erasedIdentities: 2, deletedKeys: 5 });
    const events = await expectErased(context, life);
    const after = new Map(events.map((event) => [event.id, event]));
    for (const { id, type, at, resourceId, keyId, identityId } of before)
      expect(after.get(id)).toMatchObject({
        type,
        at,
        resourceId,
        ...(keyId !== undefined && { keyId }),
        ...(identityId !== undefined && { identityId }),
      });
    const said = events.filter(({ type }) => type === "identity.erased");
    expect(said).toMatchObject([{ resourceId: life.identityIds[1], changes: [] }]);
    for (const event of events)
      if (life.identityIds.includes(event.identityId ?? "") && event !== said[0])
        expect(event).toMatchObject({ erased: true });
    const { id } = await context.latchkey.getIdentity({ externalId: OTHERS.externalId });
    const others = await context.latchkey.listAuditEvents({ identityId: id });
    expect(others.events.filter(({ erased }) => erased !== true)).not.toEqual([]);
  });

  test("B2: how often their keys were verified is forgotten, also of keys that were deleted before", async () => {
    const context = open();
    const life = await liveLife(context.latchkey);
    const { apiId } = life;
    const ofApi = async () => (await context.latchkey.getVerifications({ apiId })).verifications;
    const before = await ofApi();
    expect(await sumsOf(context.store, life)).toBe(4);
    await context.latchkey.eraseIdentity({ externalId: THEIRS.externalId });
    expect(await sumsOf(context.store, life)).toBe(0);
    expect(await ofApi()).toEqual(before);
  });

  test("B2: nor is anything left of what this process had not written yet, and without an audit log", async () => {
    const context = open();
    const latchkey = context.another({ auditLog: false });
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { externalId } = THEIRS;
    const { identityId } = await latchkey.createIdentity({ externalId });
    const made = await latchkey.createKey({ apiId, externalId });
    await latchkey.verifyKey({ key: made.key });
    await latchkey.eraseIdentity({ externalId });
    const life = { apiId, keyIds: [made.keyId], identityIds: [identityId], secrets: [], kept: [] };
    await latchkey.getVerifications({ apiId });
    expect(await sumsOf(context.store, life)).toBe(0);
  });

  test("B2: nor is their externalId in what others write meanwhile", async () => {
    for (const byId of [false, true]) {
      const context = open();
      const { latchkey, store } = context;
      const { externalId } = THEIRS;
      const { apiId } = await latchkey.createApi({ name: "tide tables" });
      const given = await latchkey.createKey({ apiId, externalId });
      await latchkey.createKey({ apiId, externalId });
      const { id: identityId } = await latchkey.getIdentity({ externalId });
      const meanwhile = async () => {
        await latchkey.updateKey({ keyId: given.keyId, externalId: OTHERS.externalId });
        await latchkey.actingAs(externalId).createApi({ name: "harbour gates" });
      };
      const erasing = context.another({ store: overtaken(store, meanwhile) });
      await erasing.eraseIdentity(byId ? { identityId } : { externalId });
      expect((await latchkey.verifyKey({ key: given.key })).code).toBe("VALID");
      const left = await shown(context);
      expect(JSON.stringify(left)).not.toContain(externalId);
      const moved = left.events.find(({ type }) => type === "key.updated");
      expect(moved).toMatchObject({ keyId: given.keyId, erased: true, changes: [] });
      await expectRefused("NOT_FOUND", [latchkey.eraseIdentity({ externalId })]);
    }
  });

  test.each(["readable", "damaged"])(
    "B2: nor is a %s key left whose API was deleted in part, nor what its entries say",
    async (state) => {
      const context = open();
      const { latchkey, store } = context;
      const { externalId } = THEIRS;
      const { apiId } = await latchkey.createApi({ name: "tide tables" });
      await latchkey.createApi({ name: "harbour gates" });
      const { keyId } = await latchkey.createKey({ apiId, name: THEIRS.ownerlessName });
      const meta = { note: THEIRS.meta };
      await latchkey.updateKey({ keyId, externalId, meta });
      let commits = 0;
      const dying = wrapped(store, {
        commit: async (workspaceId, change) => {
          commits += 1;
          if (commits > 1) throw new LatchkeyError("STORE_UNAVAILABLE", "killed");
          return store.commit(workspaceId, change);
        },
      });
      await expectRefused("STORE_UNAVAILABLE", [
        context.another({ store: dying }).deleteApi({ apiId }),
      ]);
      if (state === "damaged") await DAMAGES[0].damage(store, "key", keyId);
      expect(await latchkey.eraseIdentity({ externalId })).toMatchObject({ deletedKeys: 1 });
      expect((await store.read("ws_default", [{ kind: "key", id: keyId }])).found).toEqual([null]);
      const text = JSON.stringify(await shown(context));
      expect(TEXTS.filter((each) => text.includes(each))).toEqual([]);
    },
  );

  test("B2: nor are users named who erase themselves", async () => {
    const context = open();
    const life = await liveLife(context.latchkey);
    const { externalId } = THEIRS;
    await context.latchkey.actingAs(externalId).eraseIdentity({ externalId });
    const [latest] = await expectErased(context, life);
    expect(latest).toMatchObject({ type: "identity.erased", changes: [] });
    expect(latest).not.toHaveProperty("actor");
    await expectRefused("NOT_FOUND", [context.latchkey.eraseIdentity({ externalId })]);
  });

  test("what a new identity of the same externalId does meanwhile stays", async () => {
    const context = open();
    const { latchkey, store } = context;
    const { externalId } = THEIRS;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId, externalId });
    const { id: identityId } = await latchkey.getIdentity({ externalId });
    let isDone = false;
    const dying = wrapped(store, {
      commit: async (workspaceId, change) => {
        const result = await store.commit(workspaceId, change);
        const isGone = change.deletes.some(({ id }) => id === identityId);
        if (isGone && !isDone) {
          isDone = true;
          await latchkey.createKey({ apiId, externalId, name: "anew" });
        }
        return result;
      },
    });
    await context.another({ store: dying }).eraseIdentity({ externalId });
    expect(isDone).toBe(true);
    const { events } = await latchkey.listAuditEvents({ keyId });
    expect(events.every(({ erased }) => erased === true)).toBe(true);
    const anew = await latchkey.getIdentity({ externalId });
    const entries = (await latchkey.listAuditEvents({ identityId: anew.id })).events;
    expect(entries.map(({ type, erased }) => [type, erased])).toEqual([
      ["key.created", undefined],
      ["identity.created", undefined],
    ]);
  });

  test("an identity that was deleted before is erased by either of its ids, and so are its keys without an owner", async () => {
    for (const by of ["identityId", "externalId"] as const) {
      const context = open();
      const { latchkey } = context;
      const life = await liveLife(latchkey);
      const [first = "", again = ""] = life.identityIds;
      await latchkey.deleteIdentity({ identityId: again });
      const who = by === "identityId" ? { identityId: first } : { externalId: THEIRS.externalId };
      expect(await latchkey.eraseIdentity(who)).toMatchObject({ erasedIdentities: 2 });
      await expectErased(context, life);
      expect(await latchkey.eraseIdentity({ identityId: first })).toEqual({
        erasedIdentities: 1,
        deletedKeys: 0,
        erasedEvents: 0,
      });
      await expectRefused("NOT_FOUND", [
        latchkey.eraseIdentity({ externalId: THEIRS.externalId }),
        latchkey.eraseIdentity({ externalId: "nobody" }),
        latchkey.eraseIdentity({ identityId: "id_unknown" }),
      ]);
    }
  });
});

/** Erases with a process that dies before or after a commit. Whether it completed. */
async function eraseOnce(context: TestContext, diesAt: number, isWritten: boolean) {
  let commits = 0;
  const store = wrapped(context.store, {
    commit: async (workspaceId, change) => {
      commits += 1;
      if (commits < diesAt) return context.store.commit(workspaceId, change);
      if (isWritten && commits === diesAt) await context.store.commit(workspaceId, change);
      throw new LatchkeyError("STORE_UNAVAILABLE", "killed", { outcome: "unknown" });
    },
  });
  try {
    await context.another({ store }).eraseIdentity({ externalId: THEIRS.externalId });
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "unknown" });
    return false;
  }
}

describeOnMemory("erasing an owner of many keys", (open) => {
  test("counts each entry once, with about two calls of the store for each key", async () => {
    const context = open();
    const { latchkey, store } = context;
    const { apiId } = await latchkey.createApi({ name: "tides" });
    const keys = 130;
    for (let at = 0; at < keys; at += 1) {
      const { keyId } = await latchkey.createKey({ apiId });
      await latchkey.updateKey({ keyId, externalId: THEIRS.externalId });
    }
    let calls = 0;
    const counted = <Given extends readonly unknown[], Answer>(
      call: (...given: Given) => Promise<Answer>,
    ) => {
      return (...given: Given) => {
        calls += 1;
        return call(...given);
      };
    };
    const counting = wrapped(store, {
      read: counted(store.read.bind(store)),
      page: counted(store.page.bind(store)),
    });
    const erasing = context.another({ store: counting });
    // Each key was created, assigned and deleted; and there are the entries of the identity.
    expect(await erasing.eraseIdentity({ externalId: THEIRS.externalId })).toEqual({
      erasedIdentities: 1,
      deletedKeys: keys,
      erasedEvents: 3 * keys + 2,
    });
    expect(calls).toBeLessThan(3 * keys);
  });
});

describe("an interrupted erasure", () => {
  describeOnEveryStore("at every step", (open, runs) => {
    // Dying after one step leaves the same state as dying before the next, so every second step is enough for each case.
    const stride = Math.max(1, Math.floor(8 / runs(4)));
    test.each([false, true])(
      "goes on when it is called again, and says once that it happened: the step itself happened: %s",
      async (isWritten) => {
        const nextWorkspace = workspacesOf(open());
        for (let diesAt = isWritten ? Math.ceil(stride / 2) : 1; ; diesAt += stride) {
          const context = nextWorkspace();
          const life = await liveLife(context.latchkey);
          const isOver = await eraseOnce(context, diesAt, isWritten);
          if (!isOver)
            await context.latchkey
              .eraseIdentity({ externalId: THEIRS.externalId })
              // The erasure was already complete.
              .catch((error: LatchkeyError) => expect(error.code).toBe("NOT_FOUND"));
          const events = await expectErased(context, life);
          expect(events.filter(({ type }) => type === "identity.erased")).toHaveLength(1);
          if (isOver) {
            expect(diesAt).toBeGreaterThan(8);
            return;
          }
        }
      },
    );
  });

  describeOnEveryStore("damage", (open) => {
    test.each(DAMAGES)(
      "$kind of identity, key and entry keeps nothing back",
      async ({ damage }) => {
        const context = open();
        const { latchkey, store } = context;
        const { apiId } = await latchkey.createApi({ name: "tide tables" });
        const { externalId } = THEIRS;
        const { keyId } = await latchkey.createKey({ apiId, externalId, name: THEIRS.keyName });
        const { id } = await latchkey.getIdentity({ externalId });
        const { events } = await latchkey.listAuditEvents({ keyId });
        await damage(store, "identity", id);
        await damage(store, "key", keyId);
        await damage(store, "auditEntry", events[0]?.id ?? "");
        expect(await latchkey.eraseIdentity({ externalId })).toMatchObject({ deletedKeys: 1 });
        const wants = [
          { kind: "auditEntry", id: events[0]?.id ?? "" },
          { kind: "identity", id },
          { kind: "key", id: keyId },
          { kind: "identity", index: "externalId", value: externalId },
        ] as const;
        const { found } = await store.read("ws_default", wants);
        expect(found.slice(1)).toEqual([null, null, null]);
        expect(JSON.stringify(found)).not.toContain("subject");
        expect(await rejectionOf(latchkey.getIdentity({ externalId }))).toMatchObject({
          code: "NOT_FOUND",
        });
      },
    );
  });
});
