import type { KeyStore } from "@latchkey/core";
import { createLatchkey } from "@latchkey/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copy } from "./copy.js";
import { readOwnWindows, writeWindows } from "./records/windows.js";
import { startStores, type TestStores } from "./testing/stores.js";

const IDS = Array.from({ length: 30 }, (_, at) => `tenant_${at}`);
const DAY_MS = 86_400_000;
let stores: TestStores;

beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores.close());

/** Workspaces with an API and a window each. */
async function fill(store: KeyStore): Promise<void> {
  const latchkey = createLatchkey({ store: { ...store, close: async () => undefined } });
  for (const id of IDS) {
    await latchkey.workspace(id).createApi({ name: "maps" });
    const found = { at: Date.now() - (Date.now() % DAY_MS), used: 3, earlier: [] };
    const limit = { window: `n:${DAY_MS}:${id}`, algorithm: "fixed", duration: DAY_MS } as const;
    await writeWindows(store, id, [{ ...limit, owner: null, found }]);
  }
  await latchkey.close();
}

/** A store, and how often each method was called. */
function counted(store: KeyStore) {
  const calls: Record<string, number> = {};
  const proxy = new Proxy(store, {
    get(_, name: string) {
      const method: unknown = Reflect.get(store, name);
      if (typeof method !== "function") return method;
      return (...given: readonly unknown[]) => {
        const call = name === "scan" && given[0] !== null ? "scan of a workspace" : name;
        calls[call] = (calls[call] ?? 0) + 1;
        return Reflect.apply(method, store, given);
      };
    },
  });
  return { store: proxy, calls };
}

describe("a copy of many workspaces", () => {
  test.each([
    { name: "at rest", live: false },
    { name: "in use", live: true },
  ])(
    "$name walks through a Redis server a few times, not once for each workspace",
    async ({ live }) => {
      const [from, to] = [counted(stores.open("redis")), counted(stores.open("redis"))];
      await fill(from.store);
      await copy(from.store, to.store, { live });
      for (const { calls } of [from, to]) {
        expect(calls["scan of a workspace"] ?? 0).toBeLessThan(5);
        expect(calls.scanWindows).toBeLessThan(10);
      }
      for (const id of IDS) {
        const [window, ...others] = [...(await readOwnWindows(to.store, id)).values()];
        expect([window?.found.used, others]).toEqual([3, []]);
      }
    },
  );
});
