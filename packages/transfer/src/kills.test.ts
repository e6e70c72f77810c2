import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyStore, Latchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { takeBack } from "./live/take-back.js";
import { restore } from "./restore.js";
import { Death, livesThrough } from "./testing/dying-store.js";
import { assertArrived, fill, latchkeyOn } from "./testing/fixture.js";

const GRANTED = 4;

/** A source that is in use: its caches are warm. */
async function aSource() {
  const store = memoryStore();
  const latchkey = latchkeyOn(store);
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const counted = await latchkey.createKey({
    apiId,
    remaining: GRANTED,
    ratelimit: { limit: 100, duration: 3_600_000 },
  });
  const free = await latchkey.createKey({ apiId });
  await latchkey.rotateKey({ keyId: free.keyId, graceMs: 60_000 });
  await latchkey.limit({ identifier: "somebody", limit: 3, duration: 60_000 });
  await latchkey.verifyKey({ key: free.key });
  return { store, latchkey, counted: counted.key, free: free.key };
}

/** The verdict of a verification, or the reason of its error. */
async function answer(latchkey: Latchkey, key: string): Promise<string | undefined> {
  return latchkey.verifyKey({ key }).then(
    ({ code }) => code,
    (error) => error.reason,
  );
}

/** Copies until the process dies. Whether the copy was complete by then. */
function copyUntilDeath(from: KeyStore, to: KeyStore, live: boolean, death: Death) {
  return livesThrough(death, () => copy(death.store(from), death.store(to), { live }));
}

describe.each([{ live: false }, { live: true }])(
  "a copy (live: $live) that is killed",
  ({ live }) => {
    test("after any number of writes leaves at most one side in charge, and completes when it is called again", async () => {
      const outcomes = new Set<string>();
      for (let writes = 0, isDone = false; !isDone; writes += 1) {
        const { store, latchkey, counted, free } = await aSource();
        const to = memoryStore();
        const target = latchkeyOn(to);
        isDone = await copyUntilDeath(store, to, live, new Death(writes, "writes"));
        const answers = [await answer(latchkey, free), await answer(target, free)];
        outcomes.add(answers.join(", "));
        let used = (await answer(latchkey, counted)) === "VALID" ? 1 : 0;
        if (!isDone) await copy(store, to, { live });
        // After an offline copy, using the source is a mistake, and nothing is promised for it.
        const asked = live ? [latchkey, target] : [target];
        for (const each of asked)
          for (let time = 0; time <= GRANTED; time += 1)
            if ((await answer(each, counted)) === "VALID") used += 1;
        expect(used).toBe(GRANTED + (isDone && !live ? 1 : 0));
        expect(await answer(target, free)).toBe("VALID");
      }
      expect([...outcomes].sort()).toEqual(
        live
          ? ["VALID, NOT_FOUND", "VALID, incomplete", "moved, VALID", "moved, incomplete"]
          : ["VALID, NOT_FOUND", "VALID, VALID", "VALID, incomplete"],
      );
    });
  },
);

test("a live copy that is killed can be taken back at any point before the target is opened", async () => {
  const outcomes = new Set<string>();
  for (let writes = 0, isDone = false; !isDone; writes += 1) {
    const { store, latchkey, free } = await aSource();
    const to = memoryStore();
    const target = latchkeyOn(to);
    isDone = await copyUntilDeath(store, to, true, new Death(writes, "writes"));
    const isBack = await takeBack(store, to).then(
      () => true,
      (error) => {
        expect(error.code).toBe("PRECONDITION_FAILED");
        return false;
      },
    );
    const answers = [await answer(latchkey, free), await answer(target, free)];
    outcomes.add(`${isBack}: ${answers.join(", ")}`);
  }
  expect([...outcomes].sort()).toEqual([
    "false: moved, VALID",
    "true: VALID, NOT_FOUND",
    "true: VALID, incomplete",
  ]);
});

test("a restore that is killed after any number of writes leaves nothing that serves, and completes when it is called again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-kills-"));
  const path = join(folder, "keys.lkb");
  const { store, counted, free } = await aSource();
  await backup(store, path);
  const outcomes = new Set<string | undefined>();
  for (let writes = 0, isDone = false; !isDone; writes += 1) {
    const to = memoryStore();
    const target = latchkeyOn(to);
    const death = new Death(writes, "writes");
    isDone = await livesThrough(death, () => restore(death.store(to), path));
    outcomes.add(await answer(target, free));
    if (!isDone) await restore(to, path);
    let used = 0;
    for (let time = 0; time <= GRANTED; time += 1)
      if ((await answer(target, counted)) === "VALID") used += 1;
    expect([used, await answer(target, free)]).toEqual([GRANTED, "VALID"]);
  }
  rmSync(folder, { recursive: true });
  expect([...outcomes].sort()).toEqual(["NOT_FOUND", "VALID", "incomplete"]);
});

test.each(["copy", "restore"])(
  "one of everything arrives with a %s that is killed after any number of writes, and called again",
  async (by) => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-kills-"));
    const path = join(folder, "keys.lkb");
    const from = memoryStore();
    const filled = await fill(from);
    await backup(from, path);
    const move = (to: KeyStore) =>
      by === "copy" ? copy(from, to, { live: false }) : restore(to, path);
    for (let writes = 0, isDone = false; !isDone; writes += 1) {
      const to = memoryStore();
      const death = new Death(writes, "writes");
      isDone = await livesThrough(death, () => move(death.store(to)));
      if (!isDone) await move(to);
      await assertArrived(to, filled);
    }
    rmSync(folder, { recursive: true });
  },
);
