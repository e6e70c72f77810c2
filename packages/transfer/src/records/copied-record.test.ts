import { createLatchkey, type KeyStore, keysOfApi } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { readCopied } from "./copied-record.js";

test("the sums of at most 100 records are read at the same time, so that none waits long for a connection", async () => {
  const memory = memoryStore();
  const latchkey = createLatchkey({ store: memory });
  const { apiId } = await latchkey.createApi({ name: "maps" });
  for (let from = 0; from < 300; from += 100)
    await latchkey.createKeys(
      Array.from({ length: 100 }, (_, at) => ({
        apiId,
        plaintext: `a-secret-number-${from + at}`,
      })),
    );
  let [running, most, reads] = [0, 0, 0];
  const store: KeyStore = {
    ...memory,
    async readStatistics(...given) {
      running += 1;
      reads += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return memory.readStatistics(...given);
    },
  };
  const want = { kind: "key", list: keysOfApi(apiId), after: null, limit: 300 } as const;
  const { found } = await store.page(latchkey.workspaceId, want);
  expect(await readCopied(store, latchkey.workspaceId, found)).toHaveLength(300);
  expect([reads, most]).toEqual([300, 100]);
  await latchkey.close();
});
