import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { restore } from "./restore.js";
import { Death, livesThrough } from "./testing/dying-store.js";
import { latchkeyOn } from "./testing/fixture.js";
import { KINDS, startStores, type TestStores } from "./testing/stores.js";

let stores: TestStores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores.close());

/** A store with a root key, and ways to move it to another store. */
async function storeWithRootKey() {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-root-keys-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "keys.lkb");
  const from = memoryStore();
  const { key } = await latchkeyOn(from).createRootKey({ permissions: ["*"] });
  await backup(from, path);
  const moves = {
    copy: (to: KeyStore) => copy(from, to, { live: false }),
    "live copy": (to: KeyStore) => copy(from, to, { live: true }),
    restore: (to: KeyStore) => restore(to, path),
  };
  return { key, moves };
}

describe.each(KINDS)("root keys on %s", (kind) => {
  test.each(["copy", "live copy", "restore"] as const)(
    "authorise after a %s that was killed after any number of writes, and called again",
    { timeout: 60_000 },
    async (by) => {
      for (let writes = 0, isDone = false; !isDone; writes += 1) {
        const { key, moves } = await storeWithRootKey();
        const to = stores.open(kind);
        const death = new Death(writes, "writes");
        isDone = await livesThrough(death, () => moves[by](death.store(to)));
        if (!isDone) await moves[by](to);
        const found = await latchkeyOn(to).authenticateRootKey(key);
        expect(found, `after ${writes} writes`).toMatchObject({ kind: "authenticated" });
      }
    },
  );
});
