import { describe, expect, test } from "vitest";
import { loadedWith } from "../testing/records.js";
import { createLruCache } from "./lru-cache.js";

const loaded = loadedWith({});

describe("the cache of loaded keys", () => {
  test("returns what was kept, and nothing after it was dropped", () => {
    const cache = createLruCache(10);
    cache.set("a", loaded);
    expect(cache.get("a")).toBe(loaded);
    cache.delete("a");
    expect(cache.get("a")).toBeUndefined();
  });

  test("holds at most its maximum, whatever passes through", () => {
    const cache = createLruCache(10);
    for (let count = 0; count < 1_000; count += 1) cache.set(`${count}`, loaded);
    const held = Array.from({ length: 1_000 }, (_, count) => cache.get(`${count}`)).filter(
      (kept) => kept !== undefined,
    );
    expect(held.length).toBeGreaterThanOrEqual(5);
    expect(held.length).toBeLessThanOrEqual(10);
  });

  test("keeps a key in use while others pass through", () => {
    const cache = createLruCache(10);
    cache.set("in use", loaded);
    for (let count = 0; count < 1_000; count += 1) {
      cache.set(`${count}`, loaded);
      expect(cache.get("in use")).toBe(loaded);
    }
  });

  test("drops a key of either generation", () => {
    const cache = createLruCache(4);
    for (const hash of ["a", "b", "c"]) cache.set(hash, loaded);
    for (const hash of ["a", "b", "c"]) {
      cache.delete(hash);
      expect(cache.get(hash)).toBeUndefined();
    }
  });

  test("replaces the value of the same hash, even in the older generation", () => {
    const cache = createLruCache(4);
    const newer = loadedWith({});
    for (const hash of ["a", "b", "c"]) cache.set(hash, loaded);
    cache.set("a", newer);
    expect(cache.get("a")).toBe(newer);
  });

  test("of size 0 keeps nothing", () => {
    const cache = createLruCache(0);
    cache.set("a", loaded);
    expect(cache.get("a")).toBeUndefined();
  });
});
