import { EMPTY_CHANGE, type KeyStore, type Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { DAMAGES } from "./damage.js";
import { describeOnEveryStore } from "./every-store.js";
import { illsOf } from "./journeys/doctor.js";
import { noticedByTheLog, readLog, sweep, waiting } from "./noticing.js";
import { DAY_MS, issue, NOON, rejectionOf } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20260412);
const STEPS = Number(process.env.LATCHKEY_LAW_STEPS ?? 40);
const WITHIN = 1_000;

/** A store whose commits are sometimes cut off before or after they are executed, as by a kill. */
function cutOff(store: KeyStore, chance: Chance): KeyStore {
  return wrapped(store, {
    commit: async (workspaceId, change) => {
      const kind = chance.below(6);
      if (kind === 0) throw new Error("killed before the commit");
      const result = await store.commit(workspaceId, change);
      if (kind === 1) throw new Error("killed behind the commit");
      return result;
    },
  });
}

describeOnEveryStore("notice", (open) => {
  test(`each expiry is noticed once, whatever two processes do, and are killed in (seed ${SEED})`, {
    timeout: 120_000,
  }, async () => {
    const notice = { expiresWithin: WITHIN };
    const context = open({ notice });
    const chance = chanceOf(SEED);
    const { apiId } = await context.latchkey.createApi({ name: "maps" });
    const processes = [
      context.latchkey,
      context.another(),
      context.another({ store: cutOff(context.store, chance) }),
    ];
    const keyIds: string[] = [];
    const expires = () => context.now() + 1 + chance.below(3 * WITHIN);
    // Keys that nobody changes. Each must be noticed, in whatever order the steps below run.
    const left = Array.from({ length: STEPS }, (_, number) => {
      const plaintext = `old_secret_${String(number).padStart(16, "0")}`;
      return { apiId, plaintext, expires: expires() };
    });
    await context.latchkey.createKeys(left);
    const steps: readonly ((latchkey: Latchkey, keyId: string) => Promise<unknown>)[] = [
      (latchkey) => latchkey.createKey({ apiId, expires: expires() }),
      (latchkey) => latchkey.createKey({ apiId, expires: expires(), externalId: "user_1" }),
      (latchkey) => latchkey.createKey({ apiId }),
      (latchkey, keyId) => latchkey.updateKey({ keyId, expires: expires() }),
      (latchkey, keyId) => latchkey.updateKey({ keyId, expires: null }),
      (latchkey, keyId) =>
        latchkey.updateKey({ keyId, enabled: true, name: `n${chance.below(9)}` }),
      (latchkey, keyId) => latchkey.rotateKey({ keyId, graceMs: chance.below(WITHIN) }),
      (latchkey, keyId) => latchkey.deleteKey({ keyId }),
      (latchkey, keyId) => latchkey.disableKeys({ keyIds: [keyId] }),
      (latchkey) => latchkey.notice({ limit: 1 + chance.below(4) }),
      (latchkey) => sweep(latchkey, 1 + chance.below(4)),
    ];
    const run = async () => {
      const step = chance.pick(steps)(chance.pick(processes), chance.pick([...keyIds, "key_1"]));
      const { keyId } = Object(await step.catch(() => null)) as { readonly keyId?: string };
      if (keyId !== undefined) keyIds.push(keyId);
    };
    for (let count = 0; count < STEPS; count += 1) {
      context.advance(chance.below(WITHIN));
      await Promise.all([run(), run(), run()]);
    }
    await Promise.all([sweep(context.latchkey, 3), sweep(processes[1] as Latchkey, 2)]);
    const { noticed, missing } = noticedByTheLog(await readLog(context.latchkey), {
      now: context.now(),
      within: WITHIN,
    });
    expect(missing).toEqual([]);
    expect(noticed.length).toBeGreaterThanOrEqual(left.length);
    expect(new Set(noticed).size).toBe(noticed.length);
    expect(await context.another().notice()).toEqual({ noticed: 0 });
    // The remaining deadlines are those of existing keys: none is left over from deleted ones.
    const keys = [];
    for await (const key of context.another().keysOf({ apiId })) keys.push(key);
    const future = keys.filter((key) => key.expires !== undefined && key.expires > context.now());
    const ids = (await waiting(context.store)).map((id) => id.slice(1)).sort();
    expect(ids).toEqual(
      future.map((key) => `${String(key.expires).padStart(16, "0")}.${key.id}`).sort(),
    );
  });

  test("an upcoming expiry and a past one are one event each, even with five concurrent sweeps", async () => {
    const context = open();
    const expires = context.now() + 8 * DAY_MS;
    const { keyId } = await issue(context, { expires, externalId: "user_1" });
    const { id: identityId } = await context.latchkey.getIdentity({ externalId: "user_1" });
    const sweeps = async () => {
      const processes = [context.latchkey, ...Array.from({ length: 4 }, () => context.another())];
      const answers = await Promise.all(processes.map((latchkey) => latchkey.notice()));
      return answers.map(({ noticed }) => noticed).sort();
    };
    context.advance(DAY_MS - 1);
    expect(await sweeps()).toEqual([0, 0, 0, 0, 0]);
    context.advance(1);
    expect(await sweeps()).toEqual([0, 0, 0, 0, 1]);
    const soonAt = context.now();
    context.setClock(expires - 1);
    expect(await sweeps()).toEqual([0, 0, 0, 0, 0]);
    context.setClock(expires);
    expect(await sweeps()).toEqual([0, 0, 0, 0, 1]);
    expect(await sweeps()).toEqual([0, 0, 0, 0, 0]);
    const types = ["key.expiresSoon", "key.hasExpired"] as const;
    const { events } = await context.another().readEvents({ types });
    const about = { workspaceId: "ws_default", resourceId: keyId, keyId, identityId };
    const changes = [{ field: "expires", after: expires }];
    expect(events).toEqual([
      { id: events[0]?.id, type: types[0], ...about, at: soonAt, changes },
      { id: events[1]?.id, type: types[1], ...about, at: expires, changes },
    ]);
  });

  test("rotated keys, successors and imported keys are noticed, but not deleted ones", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, keyId } = await issue(context);
    const { keyId: rotatedTo } = await latchkey.rotateKey({ keyId, graceMs: DAY_MS });
    const row = (plaintext: string) => ({ apiId, plaintext, expires: context.now() + 2 * DAY_MS });
    const rows = [row("old_secret_9c2a7d51"), row("old_secret_5e84b064")];
    const { keyIds } = await latchkey.createKeys(rows);
    const [imported = "", deleted = ""] = keyIds;
    await latchkey.deleteKeys({ keyIds: [deleted] });
    expect(await latchkey.notice()).toEqual({ noticed: 2 });
    const types = ["key.expiresSoon"] as const;
    const { events } = await latchkey.readEvents({ types });
    expect(events).toMatchObject([
      { keyId, changes: [{ field: "expires" }, { field: "rotatedTo", after: rotatedTo }] },
      { keyId: imported, changes: [{ field: "expires" }] },
    ]);
    await latchkey.deleteApi({ apiId });
    expect(await waiting(context.store)).toEqual([]);
    context.advance(3 * DAY_MS);
    expect(await latchkey.notice()).toEqual({ noticed: 0 });
  });

  test("an expiry that moves after it was noticed is noticed again, and a removed one is not", async () => {
    const context = open();
    const { latchkey, now } = context;
    const { keyId } = await issue(context, { expires: now() + DAY_MS });
    expect(await latchkey.notice()).toEqual({ noticed: 1 });
    await latchkey.updateKey({ keyId, name: "the same expiry" });
    await latchkey.updateKey({ keyId, expires: now() + DAY_MS });
    expect(await latchkey.notice()).toEqual({ noticed: 0 });
    await latchkey.updateKey({ keyId, expires: now() + 2 * DAY_MS });
    expect(await latchkey.notice()).toEqual({ noticed: 1 });
    context.advance(2 * DAY_MS);
    expect(await latchkey.notice()).toEqual({ noticed: 1 });
    // This clears the expiry, and the key lives on.
    await latchkey.updateKey({ keyId, enabled: true });
    expect(await latchkey.getKey({ keyId })).not.toHaveProperty("expires");
    expect(await waiting(context.store)).toEqual([]);
    await latchkey.updateKey({ keyId, expires: now() + DAY_MS });
    await latchkey.updateKey({ keyId, expires: null });
    expect(await waiting(context.store)).toEqual([]);
    context.advance(2 * DAY_MS);
    expect(await latchkey.notice()).toEqual({ noticed: 0 });
  });

  test("a sweep works in bounded steps, whose cursors cover everything that is due once", async () => {
    const context = open();
    const { latchkey, now } = context;
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const expiries = [1, 2, 3, 40, 50, 60, 70];
    for (const days of expiries)
      await latchkey.createKey({ apiId, expires: now() + days * DAY_MS });
    context.advance(45 * DAY_MS);
    const pages = [];
    let cursor: string | undefined;
    do {
      const page = await context.another().notice({ limit: 2, cursor });
      pages.push(page.noticed);
      cursor = page.cursor;
    } while (cursor !== undefined);
    // Four have expired, and one expires soon.
    expect(pages).toEqual([2, 2, 1]);
    expect(await latchkey.notice({ limit: undefined, cursor: undefined })).toEqual({ noticed: 0 });
    const { cursor: events } = await latchkey.readEvents();
    const elsewhere = await context.another().workspace("ws_other").readEvents();
    for (const bad of [events, elsewhere.cursor, "x", ""])
      expect(await rejectionOf(latchkey.notice({ cursor: bad }))).toMatchObject({
        code: "BAD_REQUEST",
      });
    for (const limit of [0, 101, 1.5, Number.NaN, "5" as unknown as number])
      expect(await rejectionOf(latchkey.notice({ limit }))).toMatchObject({ code: "BAD_REQUEST" });
  });

  test("each workspace is noticed on its own, including an empty and a disabled one", async () => {
    const context = open();
    const { latchkey } = context;
    await issue(context, { expires: context.now() + DAY_MS });
    const other = latchkey.workspace("ws_other");
    expect(await other.notice()).toEqual({ noticed: 0 });
    await latchkey.setWorkspaceEnabled(false);
    expect(await latchkey.notice()).toEqual({ noticed: 1 });
    expect((await other.readEvents()).events).toEqual([]);
  });

  test("damaged records delay nothing", async () => {
    const context = open();
    const { latchkey, store, now } = context;
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const make = async () => (await latchkey.createKey({ apiId, expires: now() + DAY_MS })).keyId;
    const damagedKeys: string[] = [];
    for (const { damage } of DAMAGES) {
      const [ofDeadline, ofKey] = [await make(), await make()];
      const ids = await waiting(store);
      await damage(store, "deadline", ids.find((id) => id.endsWith(ofDeadline)) ?? "");
      await damage(store, "key", ofKey);
      damagedKeys.push(ofKey);
    }
    await make();
    expect(await latchkey.notice()).toEqual({ noticed: 5 });
    expect(await latchkey.notice()).toEqual({ noticed: 0 });
    const { events } = await latchkey.readEvents({ types: ["key.expiresSoon"] });
    const unreadable = events.filter((event) => event.unreadable).map(({ keyId }) => keyId);
    expect(unreadable.sort()).toEqual(damagedKeys.sort());
    // Deleting a damaged key cannot remove its deadline, and leaves that to the sweep.
    for (const keyId of damagedKeys) await latchkey.deleteKey({ keyId });
    context.advance(DAY_MS);
    expect(await context.another().notice()).toEqual({ noticed: 3 });
    expect(await waiting(store)).toEqual([]);
  });

  test("a key that a process of an earlier version changed or deleted is skipped", async () => {
    const context = open();
    const { latchkey, store, now } = context;
    const { keyId } = await issue(context, { expires: now() + DAY_MS });
    const id = (await waiting(store))[0] ?? "";
    const [moved, gone] = [id.replace(/\d{16}/, "0000000000000001"), id.replace(keyId, "key_1")];
    const puts = [moved, gone].map((other) => {
      const record = { kind: "deadline", id: other, version: 1, link: null, body: {} } as const;
      return { record };
    });
    const enters = puts.map(({ record }) => ({ list: "deadline", id: record.id }));
    await store.commit("ws_default", { ...EMPTY_CHANGE, puts, enters });
    expect(await latchkey.notice()).toEqual({ noticed: 1 });
    expect(await waiting(store)).toEqual([id.replace("s", "e")]);
  });

  test("a doctor finds expiries that an earlier version wrote, and after its repair a sweep notices them", async () => {
    const context = open();
    const { latchkey, store, now } = context;
    const { apiId } = await latchkey.createApi({ name: "maps" });
    for (const days of [1, 2, 30])
      await latchkey.createKey({ apiId, expires: now() + days * DAY_MS });
    expect(await latchkey.notice({ limit: 1 })).toMatchObject({ noticed: 1 });
    const old = (await waiting(store)).filter((id) => id.startsWith("s"));
    const deletes = old.map((id) => ({ kind: "deadline", id }) as const);
    const leaves = old.map((id) => ({ list: "deadline", id }));
    await store.commit("ws_default", { ...EMPTY_CHANGE, deletes, leaves });
    expect(await illsOf(context, false)).toMatchObject([
      { check: "expiries", found: "2 keys will expire without being noticed; --fix mends it" },
    ]);
    expect(await illsOf(context, true)).toMatchObject([{ check: "expiries", state: "mended" }]);
    expect(await illsOf(context, false)).toEqual([]);
    expect(await latchkey.notice()).toEqual({ noticed: 1 });
    context.advance(31 * DAY_MS);
    expect(await latchkey.notice()).toEqual({ noticed: 3 });
  });

  test("a sweep uses its own clock: a fast one notices early, a slow one late, and none twice", async () => {
    const context = open();
    const { latchkey, now } = context;
    const expires = now() + 30 * DAY_MS;
    const { keyId } = await issue(context, { expires });
    const behind = context.another({ clock: () => NOON - 300 * DAY_MS });
    const ahead = context.another({ clock: () => expires });
    expect(await behind.notice()).toEqual({ noticed: 0 });
    expect(await ahead.notice()).toEqual({ noticed: 1 });
    context.setClock(expires + 1);
    for (const process of [latchkey, behind, ahead])
      expect(await process.notice()).toEqual({ noticed: 0 });
    const types = ["key.expiresSoon", "key.hasExpired"] as const;
    const { events } = await latchkey.readEvents({ types });
    expect(events).toMatchObject([{ type: "key.hasExpired", keyId, at: expires }]);
  });
});
