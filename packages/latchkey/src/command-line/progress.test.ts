import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { examine } from "../doctor/examination.js";
import { changeCounter, progressLines } from "./progress.js";

/** Everything that a listener got as a line, written at most once in `everyMs`. */
function listening(everyMs: number) {
  const lines: string[] = [];
  const show = progressLines({ warn: (line) => void lines.push(line) }, everyMs);
  return { lines, show };
}

describe("lines about long work", () => {
  test("are written as often as they may be, and no more often", () => {
    const [always, seldom] = [listening(0), listening(600_000)];
    for (const { show } of [always, seldom]) for (const line of ["a", "b"]) show(() => line);
    expect([always.lines, seldom.lines]).toEqual([["a", "b"], []]);
  });

  test("of a command that changes many records count the changes", async () => {
    const lines: string[] = [];
    const { onEvent, count } = changeCounter({ warn: (line) => void lines.push(line) }, 0);
    const latchkey = createLatchkey({ store: memoryStore(), onEvent });
    const { apiId } = await latchkey.createApi({ name: "tides" });
    const { key } = await latchkey.createKey({ apiId });
    await latchkey.verifyKey({ key });
    await latchkey.deleteApi({ apiId });
    expect(lines).toEqual([
      "1 change so far",
      "2 changes so far",
      "3 changes so far",
      "4 changes so far",
    ]);
    expect(count()).toBe(4);
  });

  test("of the doctor say after each page how many keys and identities it has looked at", async () => {
    const store = memoryStore();
    const latchkey = createLatchkey({ store });
    const { apiId } = await latchkey.createApi({ name: "tides" });
    for (let made = 0; made < 600; made += 1)
      await latchkey.createKey({ apiId, externalId: "user_1" });
    const { lines, show } = listening(0);
    const context = { latchkey, store, fix: false, rings: {}, onProgress: show };
    for await (const { state } of examine(context)) expect(state).toBe("fine");
    expect(lines).toEqual([
      "looked at 1 API, 500 keys and 0 identities",
      "looked at 1 API, 600 keys and 0 identities",
      "looked at 1 API, 600 keys and 1 identity",
    ]);
  });
});
