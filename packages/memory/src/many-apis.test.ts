import { createLatchkey, interceptStore } from "@latchkey/core";
import { expect, test } from "vitest";
import { memoryStore } from "./index.js";

test("a page of the keys of many APIs lets other work through after each fifty lists, also on a store that answers at once", async () => {
  let lists = 0;
  const readPerTurn: number[] = [];
  const store = interceptStore(memoryStore(), ({ method }, run) => {
    if (method === "page") lists += 1;
    return run();
  });
  const latchkey = createLatchkey({ store, usage: false, auditLog: false });
  for (let number = 0; number < 220; number += 1) {
    const { apiId } = await latchkey.createApi({ name: `tiles ${number}` });
    await latchkey.createKey({ apiId, externalId: "user" });
  }
  for (const question of [{}, { externalId: "user" }, { order: "desc" }] as const) {
    lists = 0;
    const turn = () => {
      readPerTurn.push(lists);
      lists = 0;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    expect((await latchkey.listKeys(question)).keys).toHaveLength(100);
    clearImmediate(next);
    readPerTurn.push(lists);
  }
  // One more for the list of the APIs.
  expect(Math.max(...readPerTurn)).toBeLessThanOrEqual(51);
});
