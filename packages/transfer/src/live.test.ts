import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey, type JsonValue, type KeyStore, type Latchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import { describe, expect, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { Pass } from "./passes/reconcile.js";
import { storeParts, workspacesOf } from "./passes/source.js";
import { SharedCounters } from "./records/shared-counters.js";
import { restore } from "./restore.js";
import { latchkeyOn } from "./testing/fixture.js";

/** How many records of two stores differ. */
async function differencesBetween(from: KeyStore, to: KeyStore): Promise<number> {
  const targetOf = (workspaceId: string) => {
    return { store: to, workspaceId, expects: [], shared: new SharedCounters() };
  };
  const pass = new Pass({ targetOf });
  return (await pass.run(storeParts(from, await workspacesOf(from)))).differences;
}

/** A store that yields before each call, so that concurrent work can happen between any two calls. */
function unhurried(store: KeyStore): KeyStore {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    ...store,
    read: (...given) => turn().then(() => store.read(...given)),
    page: (...given) => turn().then(() => store.page(...given)),
    commit: (...given) => turn().then(() => store.commit(...given)),
  };
}

const isMoved = (error: unknown) => (error as { reason?: string }).reason === "moved";

/** Repeats `step` until the keys have moved. Resolves to the number of steps that succeeded. */
async function untilMoved(step: (count: number) => Promise<unknown>): Promise<number> {
  for (let count = 0; ; count += 1) {
    try {
      await step(count);
    } catch (error) {
      if (isMoved(error)) return count;
      throw error;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A store with `count` keys. */
async function aServingSource(count = 30) {
  const store = memoryStore();
  const latchkey = latchkeyOn(store);
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  await latchkey.createRole({ name: "reader" });
  const keys = [];
  for (let number = 0; number < count; number += 1)
    keys.push(
      await latchkey.createKey({ apiId, remaining: 1_000, externalId: `acct_${number % 9}` }),
    );
  return { store, latchkey, apiId, keys };
}

describe("a live copy", () => {
  test("neither loses nor repeats concurrent changes", async () => {
    const { store, latchkey, apiId, keys } = await aServingSource(600);
    // Two other processes, each with a cache of its own.
    const others = [latchkey, latchkeyOn(store), latchkeyOn(store)] as const;
    const nameOf = (count: number) => keys[(count * 7) % keys.length] as (typeof keys)[number];
    const limit = { name: "calls", limit: 1_000_000, duration: 3_600_000, autoApply: true };
    const work = [
      untilMoved((count) => others[1].verifyKey({ key: nameOf(count).key })),
      untilMoved((count) =>
        others[2].verifyKey({ key: nameOf(count + 3).key, requestId: `r${count}` }),
      ),
      untilMoved((count) =>
        latchkey.updateKey({
          keyId: nameOf(count * 3).keyId,
          name: `n${count}`,
          ratelimits: [limit],
        }),
      ),
      untilMoved((count) =>
        others[1].updateRemaining({ keyId: nameOf(count).keyId, op: "increment", value: 5 }),
      ),
      untilMoved((count) =>
        others[2].createKey({ apiId, externalId: `acct_${count % 20}`, roles: ["reader"] }),
      ),
      untilMoved(async (count) => {
        const made = await latchkey.createKey({ apiId, remaining: 50 });
        const next = await latchkey.rotateKey({ keyId: made.keyId, graceMs: 60_000 });
        await latchkey.verifyKey({ key: made.key });
        await latchkey.verifyKey({ key: next.key });
        if (count % 2 === 0) await latchkey.deleteKey({ keyId: made.keyId });
      }),
      untilMoved((count) =>
        others[1].limit({ identifier: `i${count % 30}`, limit: 9, duration: 60_000 }),
      ),
      untilMoved(async (count) => {
        await latchkey.createRole({ name: `role_${count}` });
        const { identityId } = await others[2].createIdentity({ externalId: `gone_${count % 3}` });
        await others[2].deleteIdentity({ identityId });
      }),
    ];
    const to = sqliteStore(":memory:");
    const report = await copy(unhurried(store), unhurried(to), { live: true });
    const counts = await Promise.all(work);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(report.fence?.records).toBeGreaterThan(0);
    expect(await differencesBetween(store, to)).toBe(0);
    await to.close();
  });

  test("is noticed at once by processes with the key in their cache, whatever the key costs", async () => {
    const { store, latchkey, apiId, keys } = await aServingSource();
    const free = await latchkey.createKey({ apiId });
    const asked = [free.key, keys[0]?.key ?? ""];
    const others: Latchkey[] = [latchkey, latchkeyOn(store)];
    for (const each of others) for (const key of asked) await each.verifyKey({ key });
    await copy(store, memoryStore(), { live: true });
    const moved = { code: "STORE_UNAVAILABLE", reason: "moved", outcome: "not-applied" };
    for (const each of others) {
      for (const key of asked) await expect(each.verifyKey({ key })).rejects.toMatchObject(moved);
      await expect(each.limit({ identifier: "x", limit: 1, duration: 9 })).rejects.toMatchObject(
        moved,
      );
      await expect(each.createKey({ apiId })).rejects.toMatchObject(moved);
      await expect(each.listKeys({ apiId })).rejects.toMatchObject(moved);
    }
  });

  test("brings statistics of verifications during the copy, once a process has written them", async () => {
    const { store, latchkey, apiId } = await aServingSource();
    const { keyId, key } = await latchkey.createKey({ apiId, externalId: "acct_1" });
    const other = latchkeyOn(store);
    let pages = 0;
    const page: KeyStore["page"] = async (...given) => {
      const result = await store.page(...given);
      // In each pass, after the pages of the API and of the key were read.
      if (given[1].list === "permission") {
        pages += 1;
        await other.verifyKey({ key });
        await other.close();
      }
      return result;
    };
    const to = memoryStore();
    await copy({ ...store, page }, to, { live: true });
    expect(pages).toBe(2);
    const target = latchkeyOn(to);
    for (const subject of [{ apiId }, { keyId }, { externalId: "acct_1" }]) {
      const { verifications } = await target.getVerifications(subject);
      expect(verifications.at(-1)).toMatchObject({ success: 2 });
    }
  });

  test("loses no leased use: leases end before the fence", async () => {
    const store = memoryStore();
    let leased = 0;
    const latchkey = createLatchkey({
      store,
      leases: { ms: 50, share: 0.1 },
      onEvent: (event) => {
        if (event.type === "key.verified" && event.leased === true) leased += 1;
      },
    });
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: 1_000_000 });
    const verify = async () => {
      const { code } = await latchkey.verifyKey({ key });
      if (code !== "VALID") throw new Error(code);
    };
    let admitted = 0;
    const admit = async () => {
      await verify();
      admitted += 1;
    };
    while (leased === 0) await admit();
    const work = untilMoved(admit);
    const to = memoryStore();
    await copy(unhurried(store), unhurried(to), { live: true });
    await work;
    expect(leased).toBeGreaterThan(1);
    const { remaining, reserved } = await latchkeyOn(to).getKey({ keyId });
    expect([remaining, reserved]).toEqual([1_000_000 - admitted, undefined]);
  });

  test("shows none of its own windows in a verdict", async () => {
    const { store, latchkey, keys } = await aServingSource();
    const key = keys[0]?.key ?? "";
    const question = {
      key,
      ratelimits: [{ name: "x", limit: 5, duration: 60_000 }],
      requestId: "r",
    };
    const followed: unknown[] = [];
    const page: KeyStore["page"] = async (...given) => {
      if (followed.length === 0) followed.push(await latchkey.verifyKey(question));
      return store.page(...given);
    };
    await expect(
      copy({ ...store, page, scan: store.scan }, memoryStore(), { live: true }),
    ).resolves.toBeDefined();
    expect(followed).toMatchObject([{ ratelimits: [{ name: "x", remaining: 4 }] }]);
    expect((followed[0] as { ratelimits: unknown[] }).ratelimits).toHaveLength(1);
  });
});

test("a completed live copy says so when it is called again, and writes nothing", async () => {
  const { store, keys } = await aServingSource();
  const to = memoryStore();
  await copy(store, to, { live: true });
  const target = latchkeyOn(to);
  // The target has been used since, and has a workspace of its own.
  await target.verifyKey({ key: keys[0]?.key ?? "" });
  await target.workspace("ws_new").createApi({ name: "tiles" });
  const writes = { commit: () => Promise.reject(new Error("written")) };
  for (const options of [{ live: true }, { live: true, startOver: true }])
    expect(await copy({ ...store, ...writes }, { ...to, ...writes }, options)).toEqual({
      workspaces: ["ws_default"],
      counts: {},
      digest: null,
      wasComplete: true,
    });
  expect(await target.verifyKey({ key: keys[0]?.key ?? "" })).toMatchObject({ remaining: 998 });
  // Another target knows nothing of that copy.
  await expect(copy(store, memoryStore(), { live: true })).rejects.toMatchObject({
    reason: "moved",
  });
});

test.each<[JsonValue | undefined]>([
  [undefined],
  [null],
  [{}],
  [{ kind: "key" }],
  [{ kind: "keys", id: "key_1" }],
  [{ window: 1 }],
])(
  "a live copy with %j in its trail moves nothing, and completes when it is called again",
  async (body) => {
    const store = memoryStore();
    const latchkey = latchkeyOn(store);
    await latchkey.createApi({ name: "tiles" });
    const page: KeyStore["page"] = async (...given) => {
      if (given[1].list === "permission") await latchkey.createRole({ name: randomUUID() });
      const result = await store.page(...given);
      if (!given[1].list.startsWith("$trail:")) return result;
      const found = result.found.map((each) => ({ ...each, record: { ...each.record, body } }));
      return { ...result, found };
    };
    const to = memoryStore();
    const damaged = copy({ ...store, page }, to, { live: true });
    await expect(damaged).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect((await latchkey.listApis()).total).toBe(1);
    await copy(store, to, { live: true });
    expect(await differencesBetween(store, to)).toBe(0);
  },
);

test("a completed copy or restore says so when it is called again", async () => {
  const { store } = await aServingSource();
  const to = memoryStore();
  await copy(store, to);
  const arrived = {
    code: "PRECONDITION_FAILED",
    message: expect.stringContaining("have already arrived"),
  };
  await expect(copy(store, to)).rejects.toMatchObject(arrived);
  const folder = mkdtempSync(join(tmpdir(), "latchkey-again-"));
  const path = join(folder, "keys.lkb");
  await backup(store, path);
  const restored = memoryStore();
  await restore(restored, path);
  await expect(restore(restored, path)).rejects.toMatchObject(arrived);
  rmSync(folder, { recursive: true });
});

test("a verification repeated with its requestId after the switch is charged again, once", async () => {
  const { store, latchkey, keys } = await aServingSource();
  const question = { key: keys[0]?.key ?? "", requestId: "r" };
  const expectRemaining = async (each: Latchkey, remaining: number) =>
    expect(await each.verifyKey(question)).toMatchObject({ code: "VALID", remaining });
  for (const left of [999, 999]) await expectRemaining(latchkey, left);
  const to = memoryStore();
  await copy(store, to, { live: true });
  const target = latchkeyOn(to);
  for (const left of [998, 998]) await expectRemaining(target, left);
});

test("a copy refuses a target that is in use", async () => {
  const { store } = await aServingSource();
  const other = await aServingSource();
  await expect(copy(store, other.store)).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
  expect((await other.latchkey.verifyKey({ key: other.keys[0]?.key ?? "" })).valid).toBe(true);
});

test("a copy of a store that keeps changing fails, and its target cannot be used", async () => {
  const { store, latchkey, apiId } = await aServingSource();
  const to = memoryStore();
  const page: KeyStore["page"] = async (...given) => {
    await latchkey.createKey({ apiId });
    return store.page(...given);
  };
  await expect(copy({ ...store, page }, to)).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(latchkeyOn(to).listApis()).rejects.toMatchObject({ reason: "incomplete" });
});
