import { setTimeout as sleep } from "node:timers/promises";
import { createLatchkey, interceptStore, keysOfApi } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { checkInstants } from "./future.js";

test("the keys of a page do not wait for each other, and their findings are in order", async () => {
  const memory = memoryStore();
  let [now, max] = [0, 0];
  const store = interceptStore(memory, async ({ method }, run) => {
    if (method !== "read") return run();
    now += 1;
    max = Math.max(max, now);
    await sleep(1);
    now -= 1;
    return run();
  });
  const later = Date.now() + 86_400_000;
  const ahead = createLatchkey({ store: memory, clock: () => later });
  const { apiId } = await ahead.createApi({ name: "tide tables" });
  const keyIds: string[] = [];
  for (let at = 0; at < 45; at += 1) {
    const refill = { interval: "daily", amount: 5 } as const;
    keyIds.push((await ahead.createKey({ apiId, remaining: 5, refill })).keyId);
  }
  const latchkey = createLatchkey({ store });
  const page = { kind: "key", list: keysOfApi(apiId), after: null, limit: 500 } as const;
  const { found } = await memory.page(latchkey.workspaceId, page);
  const findings: string[] = [];
  const context = { latchkey, store, fix: false, rings: {} };
  for await (const { found: text } of checkInstants(context, found)) findings.push(text);
  expect(findings.map((text) => text.split(/[ :]/)[1])).toEqual([...keyIds].sort());
  expect(max).toBeGreaterThan(5);
});
