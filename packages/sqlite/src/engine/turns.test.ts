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
