import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey, deliveriesOf, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { restore } from "./restore.js";
import { KINDS, startStores, type TestStores } from "./testing/stores.js";

const folder = mkdtempSync(join(tmpdir(), "latchkey-log-end-"));
let stores: TestStores;
let files = 0;

beforeAll(async () => {
  stores = await startStores();
});
afterAll(async () => {
  await stores.close();
  rmSync(folder, { recursive: true });
});

/** Ways to transfer everything from one store to another. */
const WAYS: Readonly<Record<string, (from: KeyStore, to: KeyStore) => Promise<unknown>>> = {
  copy: (from, to) => copy(from, to),
  "live copy": (from, to) => copy(from, to, { live: true }),
  backup: async (from, to) => {
    const path = join(folder, `${files++}.lkb`);
    await backup(from, path);
    await restore(to, path);
  },
};

describe.each(KINDS)("a log whose last entries were pruned, on %s", (kind) => {
  test.each(Object.keys(WAYS))("continues its numbers after a %s", async (way) => {
    let now = Date.UTC(2030, 0, 1);
    const clock = () => now;
    const [source, target] = [stores.open(kind), stores.open(kind)];
    const latchkey = createLatchkey({ store: source, clock });
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const { keyId } = await latchkey.createKey({ apiId });
    const { cursor } = await latchkey.readEvents();
    now += 1_000;
    await latchkey.pruneAuditEvents({ before: now });
    expect((await latchkey.readEvents({ after: cursor })).events).toEqual([]);
    await WAYS[way]?.(source, target);
    const arrived = createLatchkey({ store: target, clock });
    expect((await arrived.listAuditEvents()).events).toEqual([]);
    expect((await arrived.readEvents({ after: cursor })).events).toEqual([]);
    await arrived.updateKey({ keyId, name: "north" });
    const { events } = await arrived.readEvents({ after: cursor });
    expect(events.map(({ type }) => type)).toEqual(["key.updated"]);
    const numbers = await deliveriesOf(arrived).readLog({ limit: 9, types: ["key.updated"] });
    // The first entry has the number 2.
    expect(numbers.found.map(({ number }) => number)).toEqual([4]);
  });
});

test("entries that are written and pruned after the last comparison still count on the target", async () => {
  let now = Date.UTC(2030, 0, 1);
  const clock = () => now;
  const source = memoryStore();
  const latchkey = createLatchkey({ store: source, clock });
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const { keyId } = await latchkey.createKey({ apiId });
  let passes = 0;
  let cursor: string | undefined;
  const from: KeyStore = {
    ...source,
    page: async (...given) => {
      if (given[1].list === "tag") passes += 1;
      const page = await source.page(...given);
      if (given[1].list === "auditEntry" && given[1].from === undefined && passes === 2) {
        passes += 1;
        await latchkey.updateKey({ keyId, name: "north" });
        ({ cursor } = await latchkey.readEvents());
        now += 1_000;
        await latchkey.pruneAuditEvents({ before: now });
      }
      return page;
    },
  };
  const target = stores.open("sqlite");
  await copy(from, target, { live: true });
  expect(cursor).toBeDefined();
  const arrived = createLatchkey({ store: target, clock });
  expect((await arrived.readEvents({ after: cursor })).events).toEqual([]);
});
