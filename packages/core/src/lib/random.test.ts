import fc from "fast-check";
import { expect, test } from "vitest";
import { createRandomPool } from "./random.js";

/** Fills with 1, 2, 3 … of 32 bits each, so that no four bytes at a multiple of four occur twice. */
function counting() {
  const pools: Uint8Array[] = [];
  let next = 1;
  const fill = (bytes: Uint8Array) => {
    const view = new DataView(bytes.buffer);
    for (let at = 0; at + 4 <= bytes.length; at += 4) view.setUint32(at, next++);
    pools.push(bytes);
    return bytes;
  };
  return { fill, pools };
}

test("no byte is returned twice, whatever the sizes", () => {
  const words = fc.integer({ min: 1, max: 600 });
  fc.assert(
    fc.property(fc.array(words, { maxLength: 40 }), (sizes) => {
      const random = createRandomPool(counting().fill);
      const seen = new Set<number>();
      let total = 0;
      for (const size of sizes) {
        const bytes = random(4 * size);
        expect(bytes.length).toBe(4 * size);
        const view = new DataView(bytes.buffer);
        for (let at = 0; at < bytes.length; at += 4) seen.add(view.getUint32(at));
        total += size;
      }
      expect(seen.size).toBe(total);
      expect(seen.has(0)).toBe(false);
    }),
  );
});

test("returned bytes are no longer in the pool, and stay unchanged", () => {
  const { fill, pools } = counting();
  const random = createRandomPool(fill);
  const first = random(16);
  const copy = [...first];
  random(16);
  expect([...(pools[0] as Uint8Array).subarray(0, 32)].every((byte) => byte === 0)).toBe(true);
  expect([...first]).toEqual(copy);
});

test("small sizes share one draw, and a large one has its own", () => {
  const { fill, pools } = counting();
  const random = createRandomPool(fill);
  for (let count = 0; count < 128; count += 1) random(16);
  expect(pools).toHaveLength(1);
  expect(random(5_000)).toHaveLength(5_000);
  expect(pools).toHaveLength(2);
  random(1);
  expect(pools).toHaveLength(3);
});

test("Web Crypto fills the pool unless another source is given", () => {
  const random = createRandomPool();
  expect(new Set(Array.from({ length: 500 }, () => random(16).join())).size).toBe(500);
});
