import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { heapUsed } from "./heap.js";
import { wrapped } from "./wrapped-store.js";

const FIRST = 5_000;
const MORE = 50_000;
const MB = 1_000_000;

describe("made-up keys", () => {
  test("write nothing, and are not kept in memory", async () => {
    const store = memoryStore();
    const writes: string[] = [];
    const noting = (name: "commit" | "charge") => ({
      [name]: () => {
        writes.push(name);
        throw new Error(`${name} was called`);
      },
    });
    const latchkey = createLatchkey({
      store: wrapped(store, { ...noting("commit"), ...noting("charge") }),
      usage: false,
    });
    const chance = chanceOf(1);
    const presentMany = async (count: number) => {
      for (let at = 0; at < count; at += 1) {
        // In the format of another system, so that each is looked up in the store.
        const key = `sk_${chance.below(2 ** 32)}_${at}_${chance.below(2 ** 32)}`;
        const { code } = await latchkey.verifyKey({ key });
        if (code !== "NOT_FOUND") throw new Error(`${key} is ${code}`);
      }
    };
    await presentMany(FIRST);
    const before = heapUsed();
    await presentMany(MORE);
    // If they were kept, 40 bytes for each would already reach this bound.
    expect(heapUsed() - before).toBeLessThan(2 * MB);
    expect(writes).toEqual([]);
    await latchkey.close();
  });
});
