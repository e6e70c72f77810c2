import { setImmediate } from "node:timers/promises";
import { createLatchkey } from "@latchkey/core";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { sqliteStore } from "../index.js";
import { openScratch } from "../testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

const MAX_CALLS = 20_000;

async function openKey() {
  const latchkey = createLatchkey({ store: sqliteStore(scratch.newPath()) });
  onTestFinished(() => latchkey.close());
  const { apiId } = await latchkey.createApi({ name: "maps" });
  return { latchkey, ...(await latchkey.createKey({ apiId })) };
}

test("a change resolves beside calls that write nothing and follow each other without a pause", async () => {
  const { latchkey, key, keyId } = await openKey();
  const calls = [() => latchkey.verifyKey({ key }), () => latchkey.getKey({ keyId })];
  for (const call of calls) {
    let isChanged = false;
    const change = latchkey.updateKey({ keyId, name: `${call}` }).then(() => {
      isChanged = true;
    });
    let count = 0;
    for (; !isChanged && count < MAX_CALLS; count += 1) await call();
    expect(count).toBeLessThan(MAX_CALLS);
    await change;
  }
});

test("a call that ends very many expired reservations lets others go on meanwhile", async () => {
  let now = Date.UTC(2030, 0, 1);
  const latchkey = createLatchkey({
    store: sqliteStore(scratch.newPath()),
    clock: () => now,
    usage: false,
  });
  onTestFinished(() => latchkey.close());
  const { apiId } = await latchkey.createApi({ name: "maps" });
  const { key, keyId } = await latchkey.createKey({ apiId, remaining: 1_000 });
  const reserve = () => latchkey.reserve({ key, ttl: "1m" });
  await Promise.all(Array.from({ length: 1_000 }, reserve));
  now += 60_000;
  let [isDone, turns] = [false, 0];
  const read = latchkey.getKey({ keyId }).finally(() => {
    isDone = true;
  });
  for (; !isDone; turns += 1) await setImmediate();
  expect(await read).toMatchObject({ remaining: 1_000 });
  // It ends a hundred at a time.
  expect(turns).toBeGreaterThanOrEqual(10);
});

test("a loop over very many records lets others go on meanwhile", async () => {
  const latchkey = createLatchkey({ store: sqliteStore(scratch.newPath()), usage: false });
  onTestFinished(() => latchkey.close());
  const { apiId } = await latchkey.createApi({ name: "maps" });
  for (let first = 0; first < 2_000; first += 100) {
    const plaintexts = Array.from({ length: 100 }, (_, index) => `secret-${first + index}`);
    await latchkey.createKeys(plaintexts.map((plaintext) => ({ apiId, plaintext })));
  }
  for (const list of [latchkey.keysOf({ apiId }), latchkey.auditEvents()]) {
    let [isOver, turns, count] = [false, 0, 0];
    const others = (async () => {
      for (; !isOver; turns += 1) await setImmediate();
    })();
    for await (const _ of list) count += 1;
    isOver = true;
    await others;
    expect(count).toBeGreaterThanOrEqual(2_000);
    // At least once for every 400 records.
    expect(turns).toBeGreaterThanOrEqual(5);
  }
});
