import { createLatchkey, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { copy } from "../copy.js";
import { behindTheKeys } from "../testing/behind-the-keys.js";

type Commit = Parameters<KeyStore["commit"]>;

/** Whether a change is the fence. */
function isFence([, { puts }]: Commit): boolean {
  return puts.some(
    ({ record }) => record.id === "$state" && JSON.stringify(record.body).includes('"moved"'),
  );
}

/** A source, and a server that writes its statistics when it is closed. */
async function setUp() {
  const store = memoryStore();
  const server = createLatchkey({
    store: { ...store, close: async () => undefined },
    usage: { flushMs: 3_600_000 },
  });
  const { apiId } = await server.createApi({ name: "tiles" });
  const { key, keyId } = await server.createKey({ apiId, remaining: 1_000 });
  return { store, server, key, keyId };
}

test("statistics that a server writes after the fence stay on the source, and do not delay the move", async () => {
  const { store, server, key, keyId } = await setUp();
  let [isFenced, isClosed] = [false, false];
  const from: KeyStore = {
    ...store,
    page: async (...given) => {
      // Puts the key in every trail.
      if (given[1].list === "permission") await server.verifyKey({ key });
      return store.page(...given);
    },
    commit: async (...given) => {
      if (!isFence(given)) return store.commit(...given);
      await server.verifyKey({ key });
      const result = await store.commit(...given);
      isFenced = result.kind === "committed";
      return result;
    },
    read: async (...given) => {
      const result = await store.read(...given);
      if (isFenced && !isClosed && given[1].some(({ kind }) => kind === "key")) {
        isClosed = true;
        await expect(server.verifyKey({ key })).rejects.toMatchObject({ reason: "moved" });
        // As a server does when it switches to the other store.
        await server.close();
      }
      return result;
    },
  };
  const to = memoryStore();
  const report = await copy(from, to, { live: true });
  expect(report.fence?.records).toBeGreaterThan(0);
  expect(isClosed).toBe(true);
  const { remaining } = await createLatchkey({ store: to }).getKey({ keyId });
  expect(remaining).toBe(997);
});

test("statistics that a server writes before the fence arrive, even without any other call during the copy", async () => {
  const { store, server, key, keyId } = await setUp();
  for (let time = 0; time < 7; time += 1) await server.verifyKey({ key });
  const from = behindTheKeys(store, () => server.close());
  const to = memoryStore();
  await copy(from, to, { live: true });
  const { verifications } = await createLatchkey({ store: to }).getVerifications({ keyId });
  expect(verifications.at(-1)).toMatchObject({ success: 7 });
});

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 10, 12);

/** A server that writes its counts only in `notice`. */
async function countingServer() {
  let now = START;
  const clock = () => now;
  const store = memoryStore();
  const server = createLatchkey({ store, clock, usage: { flushMs: 3_600_000 } });
  const { apiId } = await server.createApi({ name: "tiles" });
  const rowsOf = async (of: KeyStore, by: "key" | "identity" | "tag") => {
    const range = { start: START - DAY_MS, end: now, granularity: "day", by } as const;
    return (await createLatchkey({ store: of, clock }).exportUsage(range)).rows;
  };
  const advance = (ms: number) => {
    now += ms;
  };
  return { store, server, apiId, clock, rowsOf, advance };
}

test("statistics that are pruned during a live copy do not delay the move, and are not on the target", async () => {
  const { store, server, apiId, clock, rowsOf, advance } = await countingServer();
  const { key, keyId } = await server.createKey({ apiId, remaining: 100 });
  await server.verifyKey({ key });
  await server.notice();
  advance(5 * DAY_MS);
  const pruning = behindTheKeys(store, async () => {
    const { deleted } = await server.pruneVerifications({ before: clock() - DAY_MS });
    expect(deleted).toBeGreaterThan(0);
  });
  const from: KeyStore = {
    ...pruning,
    // Puts the key in the last trail, too.
    commit: async (...given) => {
      if (isFence(given)) await server.verifyKey({ key });
      return store.commit(...given);
    },
  };
  const to = memoryStore();
  await copy(from, to, { live: true });
  expect(await rowsOf(to, "key")).toEqual([]);
  const { remaining } = await createLatchkey({ store: to, clock }).getKey({ keyId });
  expect(remaining).toBe(98);
});

test("an identity that is erased during a live copy leaves no statistics of its keys on the target", async () => {
  const { store, server, apiId, rowsOf, advance } = await countingServer();
  const { key } = await server.createKey({ apiId, externalId: "pier-7", tags: ["north"] });
  await server.verifyKey({ key });
  await server.notice();
  advance(2 * DAY_MS);
  const to = memoryStore();
  const from = behindTheKeys(store, () => server.eraseIdentity({ externalId: "pier-7" }));
  await copy(from, to, { live: true });
  for (const by of ["key", "identity", "tag"] as const) expect(await rowsOf(to, by)).toEqual([]);
});
