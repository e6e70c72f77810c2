import { createHash } from "node:crypto";
import {
  DIRECTORY_ID,
  type KeyStore,
  keysOfApi,
  type Latchkey,
  LatchkeyError,
  type ScanResult,
} from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, expectRefused, rejectionOf, type TestContext } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const GONE = "ws_harbour";
const OTHER = "ws_tides";
const INPUT = { workspaceId: GONE, confirm: GONE };
const DELETING = { code: "STORE_UNAVAILABLE", reason: "deleting", outcome: "not-applied" };

/** Creates one of everything in a workspace. */
async function live(latchkey: Latchkey) {
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  await latchkey.createPermission({ name: "docs.read" });
  await latchkey.createRole({ name: "reader", permissions: ["docs.read"] });
  const identity = { externalId: "pier-7", remaining: 50, idempotencyKey: "once" };
  await latchkey.createIdentity(identity);
  const { key, keyId } = await latchkey.createKey({
    apiId,
    externalId: "pier-7",
    remaining: 50,
    roles: ["reader"],
    ratelimit: { limit: 50, duration: DAY_MS },
  });
  const next = await latchkey.rotateKey({ keyId, graceMs: DAY_MS });
  await latchkey.verifyKey({ key, requestId: "one" });
  await latchkey.reserve({ key: next.key });
  await latchkey.limit({ identifier: "pier", limit: 5, duration: DAY_MS });
  const root = await latchkey.createRootKey({ permissions: ["*"] });
  await latchkey.getVerifications({ keyId });
  return { apiId, keyId, key, rootKey: root.key, rootKeyId: root.rootKeyId };
}

/** Whether a workspace has windows. Pages are read on, because some may be empty on a server that others use as well. */
async function hasWindows(store: KeyStore, workspaceId: string): Promise<boolean> {
  for (let after: string | null = null; ; ) {
    const { names, next }: ScanResult = await store.scan(workspaceId, after);
    if (names.length > 0 || next === null) return names.length > 0;
    after = next;
  }
}

/** Everything of a workspace that the store port still shows. */
async function leftOf(
  store: KeyStore,
  workspaceId: string,
  life: Awaited<ReturnType<typeof live>>,
) {
  const kinds = ["api", "key", "identity", "role", "permission", "rootKey", "auditEntry"] as const;
  const left: string[] = [];
  for (const kind of [...kinds, "rememberedAnswer"] as const) {
    const list = kind === "key" ? keysOfApi(life.apiId) : kind;
    const page = await store.page(workspaceId, { kind, list, after: null, limit: 9 });
    if (page.size + page.found.length > 0) left.push(kind);
  }
  if (await hasWindows(store, workspaceId)) left.push("windows");
  const subject = { kind: "key", id: life.keyId } as const;
  const range = { subject, startAt: 0, endAt: 2 ** 45 };
  if ((await store.readStatistics(workspaceId, range)).length > 0) left.push("statistics");
  return left;
}

/** Whether the directory of all workspaces still leads from the hash of a root key to its workspace. */
async function isInDirectory(store: KeyStore, { rootKey }: { readonly rootKey: string }) {
  const id = createHash("sha256").update(rootKey).digest("base64url");
  const { found } = await store.read(DIRECTORY_ID, [{ kind: "rootKeyPointer", id }]);
  return found[0] !== null;
}

async function idsIn(latchkey: Latchkey): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of latchkey.workspaces({ limit: 1 })) ids.push(id);
  return ids;
}

/** The kind of answer to a root key, which shows whether its pointer to the workspace still exists. */
const pointerOf = async ({ another }: TestContext, { rootKey }: { readonly rootKey: string }) =>
  (await another().authenticateRootKey(rootKey)).kind;

describeOnEveryStore("deleting workspaces", (open) => {
  test("D1: nothing is left of it, another one stays as it is, and its id may be used again", async () => {
    const context = open();
    const { latchkey, store } = context;
    const gone = await live(latchkey.workspace(GONE));
    const kept = await live(latchkey.workspace(OTHER));
    const before = await latchkey.workspace(OTHER).getKey({ keyId: kept.keyId });
    expect(await idsIn(latchkey)).toEqual([GONE, OTHER]);
    expect(await leftOf(store, GONE, gone)).toHaveLength(10);
    const process = context.another();
    const seen = process.workspace(GONE);
    expect(await seen.verifyKey({ key: gone.key })).toMatchObject({ valid: true });

    expect(await latchkey.deleteWorkspace(INPUT)).toEqual({});
    expect(await leftOf(store, GONE, gone)).toEqual([]);
    expect(await idsIn(context.another())).toEqual([OTHER]);
    expect(await seen.verifyKey({ key: gone.key })).toEqual({ valid: false, code: "NOT_FOUND" });
    expect(await pointerOf(context, gone)).toBe("refused");
    expect(await isInDirectory(store, gone)).toBe(false);
    expect(await isInDirectory(store, kept)).toBe(true);
    // Writes counts of another process that were still pending.
    await process.workspace(OTHER).getVerifications({ keyId: kept.keyId });
    expect(await idsIn(latchkey)).toEqual([OTHER]);

    const others = context.another().workspace(OTHER);
    expect(await others.getKey({ keyId: kept.keyId })).toEqual(before);
    expect(await others.verifyKey({ key: kept.key })).toMatchObject({ valid: true });
    expect(await pointerOf(context, kept)).toBe("authenticated");

    const again = await live(latchkey.workspace(GONE));
    expect(await latchkey.workspace(GONE).verifyKey({ key: again.key })).toMatchObject({
      valid: true,
    });
    expect(await latchkey.workspace(GONE).getWorkspace()).toEqual({ id: GONE, enabled: true });
  });

  test("D2: killed at any step it is closed, and the next call finishes", async () => {
    // The process dies after this many writes.
    for (let at = 0; ; at += 1) {
      const context = open();
      const gone = await live(context.latchkey.workspace(GONE));
      let writes = 0;
      const dying = async <Result>(write: () => Promise<Result>): Promise<Result> => {
        writes += 1;
        if (writes <= at) return write();
        throw new LatchkeyError("STORE_UNAVAILABLE", "gone", { outcome: "unknown" });
      };
      const { store } = context;
      const victim = context.another({
        store: wrapped(store, {
          commit: (...given) => dying(() => store.commit(...given)),
          forget: (...given) => dying(() => store.forget(...given)),
        }),
      });
      const isDone = await victim.deleteWorkspace(INPUT).then(
        () => true,
        () => false,
      );
      const survivor = context.another().workspace(GONE);
      if (!isDone && at > 0 && (await idsIn(survivor)).includes(GONE)) {
        const verdict = await survivor.verifyKey({ key: gone.key });
        expect(verdict).toMatchObject({ valid: false, code: "FORBIDDEN" });
        expect(await pointerOf(context, gone)).not.toBe("authenticated");
        for (const write of [
          () => survivor.createApi({ name: "gates" }),
          () => survivor.setWorkspaceEnabled(true),
          () => survivor.limit({ identifier: "pier", limit: 5, duration: DAY_MS }),
        ])
          expect(await rejectionOf(write())).toMatchObject(DELETING);
      }
      expect(await survivor.deleteWorkspace(INPUT)).toEqual({});
      expect(await leftOf(store, GONE, gone)).toEqual([]);
      expect(await idsIn(survivor)).toEqual([]);
      expect(await pointerOf(context, gone)).toBe("refused");
      if (isDone) break;
    }
  });

  test("E2: leases have ended before anything of it is deleted, so a repeated call finds none", async () => {
    const context = open();
    const { store } = context;
    const { key } = await live(context.latchkey.workspace(GONE));
    const { apiId } = await context.latchkey.workspace(GONE).createApi({ name: "gates" });
    const free = await context.latchkey.workspace(GONE).createKey({ apiId });
    let charges = 0;
    const charge: KeyStore["charge"] = (...given) => {
      charges += 1;
      return store.charge(...given);
    };
    const leased = context
      .another({ store: wrapped(store, { charge }), leases: { ms: 500 } })
      .workspace(GONE);
    const isLeased = async () => {
      const before = charges;
      await leased.verifyKey({ key: free.key });
      return charges === before;
    };
    await expect.poll(isLeased, { interval: 5 }).toBe(true);
    const codes: string[] = [];
    const forget: KeyStore["forget"] = async (...given) => {
      codes.push((await leased.verifyKey({ key: free.key })).code);
      return store.forget(...given);
    };
    await context.another({ store: wrapped(store, { forget }) }).deleteWorkspace(INPUT);
    expect(codes[0]).toBe("FORBIDDEN");
    expect(await leased.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
  });

  test("a call that stands still after any step deletes nothing of a workspace that has the id by then", async () => {
    for (let at = 1, isDone = false; !isDone; at += 1) {
      const context = open();
      const { store } = context;
      await live(context.latchkey.workspace(GONE));
      let writes = 0;
      let next: Awaited<ReturnType<typeof live>> | null = null;
      const pausing = async <Result>(write: () => Promise<Result>): Promise<Result> => {
        const result = await write();
        writes += 1;
        if (writes !== at) return result;
        await context.another().deleteWorkspace(INPUT);
        next = await live(context.another().workspace(GONE));
        return result;
      };
      const paused = wrapped(store, {
        commit: (...given) => pausing(() => store.commit(...given)),
        forget: (...given) => pausing(() => store.forget(...given)),
      });
      expect(await context.another({ store: paused }).deleteWorkspace(INPUT)).toEqual({});
      const life: Awaited<ReturnType<typeof live>> | null = next;
      isDone = life === null;
      if (life !== null) {
        expect(await leftOf(store, GONE, life), `after ${at} writes`).toHaveLength(10);
        expect(await pointerOf(context, life)).toBe("authenticated");
      }
      await context.another().deleteWorkspace(INPUT);
    }
  });

  test("goes on if the store fails over, and loses what another call had deleted", async () => {
    const context = open();
    const { store } = context;
    const gone = await live(context.latchkey.workspace(GONE));
    // Once this call has closed the workspace, the store shows nothing of it, until it fails over before the next commit there.
    let commits = 0;
    const failingOver = wrapped(store, {
      read: async (workspaceId, wants) => {
        const result = await store.read(workspaceId, wants);
        const isHidden = workspaceId === GONE && commits === 1;
        return isHidden ? { ...result, found: wants.map(() => null) } : result;
      },
      commit: (workspaceId, change) => {
        if (workspaceId === GONE) commits += 1;
        return store.commit(workspaceId, change);
      },
    });
    expect(await context.another({ store: failingOver }).deleteWorkspace(INPUT)).toEqual({});
    expect(await leftOf(store, GONE, gone)).toEqual([]);
    expect(await idsIn(context.another())).toEqual([]);
  });

  test("keys that are created concurrently are deleted too, or refused", async () => {
    const context = open();
    const gone = await live(context.latchkey.workspace(GONE));
    const { apiId } = gone;
    const beside = context.another().workspace(GONE);
    const made: string[] = [];
    const making = async () => {
      for (let count = 0; count < 10; count += 1)
        try {
          made.push((await beside.createKey({ apiId })).key);
        } catch (error) {
          expect(error).toBeInstanceOf(LatchkeyError);
          return;
        }
    };
    await Promise.all([making(), context.latchkey.deleteWorkspace(INPUT)]);
    const verdicts = await Promise.all(made.map((key) => beside.verifyKey({ key })));
    expect(verdicts.filter(({ code }) => code !== "NOT_FOUND")).toEqual([]);
    expect(await leftOf(context.store, GONE, gone)).toEqual([]);
  });

  test("a latchkey can delete its own workspace, together with the remembered call", async () => {
    const { latchkey, store } = open();
    const gone = await live(latchkey);
    const { workspaceId } = latchkey;
    const input = { workspaceId, confirm: workspaceId, idempotencyKey: "gone" };
    expect(await latchkey.deleteWorkspace(input)).toEqual({});
    expect(await leftOf(store, workspaceId, gone)).toEqual([]);
    expect(await latchkey.deleteWorkspace(input)).toEqual({});
    expect(await idsIn(latchkey)).toEqual([]);
  });

  test("a call that finds nothing creates no workspace, and restores no deleted one", async () => {
    const context = open();
    const { apiId, keyId, key, rootKeyId } = await live(context.latchkey.workspace(GONE));
    const late = context.another().workspace(GONE);
    await late.verifyKey({ key });
    await context.latchkey.deleteWorkspace(INPUT);
    for (const latchkey of [late, context.latchkey.workspace("ws_typo")]) {
      await expectRefused("NOT_FOUND", [
        latchkey.deleteKey({ keyId }),
        latchkey.updateKey({ keyId, name: "boat" }),
        latchkey.createKey({ apiId }),
        latchkey.deleteApi({ apiId }),
        latchkey.revokeRootKey({ rootKeyId }),
      ]);
      await latchkey.deleteKeys({ keyIds: [keyId] });
      await latchkey.updateWorkspace({});
      await latchkey.setWorkspaceEnabled(true);
      await latchkey.endLeases();
      await latchkey.verifyKey({ key });
      await latchkey.notice();
      await latchkey.readEvents();
    }
    expect(await idsIn(context.latchkey)).toEqual([]);
  });

  test("workspaces are listed by id, a page at a time, and can be renamed from any of them", async () => {
    const { latchkey } = open();
    const ids = ["ws_a", "ws_b", "ws_c", "ws_d", "ws_e"];
    for (const id of ids.toReversed())
      await latchkey.updateWorkspace({ workspaceId: id, name: `name of ${id}` });
    const first = await latchkey.listWorkspaces({ limit: 2 });
    expect(first).toMatchObject({ total: 5, workspaces: [{ id: "ws_a" }, { id: "ws_b" }] });
    expect(await idsIn(latchkey)).toEqual(ids);
    const { cursor = "" } = await latchkey.listWorkspaces({ limit: 3 });
    expect(await latchkey.listWorkspaces({ limit: 2, cursor })).toEqual({
      workspaces: ["ws_d", "ws_e"].map((id) => ({ id, name: `name of ${id}`, enabled: true })),
      total: 5,
    });
    await latchkey.workspace("ws_b").setWorkspaceEnabled(false);
    await latchkey.workspace("ws_b").updateWorkspace({ name: null });
    await latchkey.updateWorkspace({ workspaceId: "ws_b" });
    expect(await latchkey.workspace("ws_b").getWorkspace()).toEqual({ id: "ws_b", enabled: false });
    for (const confirm of ["ws_a", null])
      expect(
        await rejectionOf(latchkey.deleteWorkspace({ ...INPUT, confirm: confirm as string })),
      ).toMatchObject({
        code: "BAD_REQUEST",
        issues: [{ path: "confirm", message: "must repeat the workspaceId" }],
      });
  });
});
