import { describe, expect, test } from "vitest";
import { BASE58_ALPHABET } from "./base58.js";
import { createIdFactory, type RandomBytes } from "./id.js";

const SEQUENCES_PER_MS = 58 ** 3;

/** Random bytes that are always zero: every random part reads `11111111111111`. */
const zeros: RandomBytes = (size) => new Uint8Array(size);

/** The part of an id that orders it, read back as its instant and its sequence number. */
function readOrder(id: string): { instant: number; sequence: number } {
  const body = id.slice(id.indexOf("_") + 1);
  const read = (text: string) =>
    [...text].reduce((total, character) => total * 58 + BASE58_ALPHABET.indexOf(character), 0);
  return { instant: read(body.slice(0, 9)), sequence: read(body.slice(9, 12)) };
}

describe("createIdFactory", () => {
  test.each(["key", "id", "api", "ws", "role", "perm", "req", "root"] as const)(
    "an id of kind %s begins with that word, and 26 base58 characters follow",
    (kind) => {
      const createId = createIdFactory(() => 1_700_000_000_000, zeros);
      expect(createId(kind)).toMatch(new RegExp(`^${kind}_[1-9A-HJ-NP-Za-km-z]{26}$`));
    },
  );

  test("an id carries the instant at which it was made", () => {
    const createId = createIdFactory(() => 1_700_000_000_000, zeros);
    expect(readOrder(createId("key"))).toEqual({ instant: 1_700_000_000_000, sequence: 0 });
  });

  test("ids of one millisecond count up, whatever their kinds", () => {
    const createId = createIdFactory(() => 5_000, zeros);
    const ids = [createId("key"), createId("api"), createId("key")];
    expect(ids.map((id) => readOrder(id).sequence)).toEqual([0, 1, 2]);
  });

  test("a new millisecond starts to count from 0 again", () => {
    let now = 5_000;
    const createId = createIdFactory(() => now, zeros);
    createId("key");
    createId("key");
    now = 5_001;
    expect(readOrder(createId("key"))).toEqual({ instant: 5_001, sequence: 0 });
  });

  test("a clock that is set back makes no id that sorts before an earlier one", () => {
    let now = 5_000;
    const createId = createIdFactory(() => now, zeros);
    const before = createId("key");
    now = 4_000;
    const after = createId("key");
    expect(after > before).toBe(true);
    expect(readOrder(after)).toEqual({ instant: 5_000, sequence: 1 });
  });

  test("the id after the last sequence number of a millisecond borrows the next millisecond", () => {
    let now = 5_000;
    const createId = createIdFactory(() => now, zeros);
    let last = createId("key");
    for (let made = 1; made < SEQUENCES_PER_MS; made += 1) last = createId("key");
    expect(readOrder(last)).toEqual({ instant: 5_000, sequence: SEQUENCES_PER_MS - 1 });

    const borrowed = createId("key");
    expect(readOrder(borrowed)).toEqual({ instant: 5_001, sequence: 0 });
    expect(borrowed > last).toBe(true);

    now = 5_001; // the clock reaches the borrowed millisecond: counting continues there, and uses no number twice
    const caughtUp = createId("key");
    expect(readOrder(caughtUp)).toEqual({ instant: 5_001, sequence: 1 });

    now = 5_002;
    expect(readOrder(createId("key"))).toEqual({ instant: 5_002, sequence: 0 });
  });

  test("a clock that stands at the epoch still makes ids that differ and ascend", () => {
    const createId = createIdFactory(() => 0, zeros);
    const ids = [createId("key"), createId("key"), createId("key")];
    expect([...new Set(ids)].sort()).toEqual(ids);
  });

  test("two processes that make an id at the same instant differ only in the random part", () => {
    const ones: RandomBytes = (size) => new Uint8Array(size).fill(1);
    const [left, right] = [
      createIdFactory(() => 5_000, zeros)("key"),
      createIdFactory(() => 5_000, ones)("key"),
    ];
    expect(left.slice(0, -14)).toBe(right.slice(0, -14));
    expect(left.slice(-14)).not.toBe(right.slice(-14));
  });

  test("the random part carries at least 80 bits", () => {
    const createId = createIdFactory(() => 5_000, zeros);
    const randomPart = createId("key").slice("key_".length + 12);
    expect(randomPart.length * Math.log2(BASE58_ALPHABET.length)).toBeGreaterThanOrEqual(80);
  });
});
