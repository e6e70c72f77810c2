import fc from "fast-check";
import { expect, test } from "vitest";
import { parseInput } from "../../lib/parse-input.js";
import { fields, junk, orJunk, unlessRefused } from "../../testing/rough-input.js";
import { readSettleByHand, settleInput } from "./reservations.js";

const text = fc.constantFrom(
  "a",
  "default",
  "x".repeat(128),
  "x".repeat(129),
  "",
  "a\0b",
  "\ud800",
);
const number = fc.constantFrom(0, 1, 60_000, -0, -1, 0.5, 2 ** 53 - 1, 2 ** 53, Number.NaN);
const used = fc.record({ name: orJunk(text), cost: orJunk(number) });
const input = fc.oneof(
  fields({
    reservationId: orJunk(text),
    remaining: orJunk(fields({ cost: orJunk(number) })),
    ratelimits: orJunk(fc.array(used, { maxLength: 3 })),
  }),
  fc.record({ reservationId: text, remaining: fields({ cost: number, other: number }) }),
  junk,
  fc.constant({ reservationId: "rsv_1", other: 1 }),
  fc.constantFrom(50, 51).map((length) => ({
    reservationId: "rsv_1",
    ratelimits: Array.from({ length }, (_, at) => ({ name: `limit_${at}`, cost: at })),
  })),
);

const bySchema = (asked: unknown) => unlessRefused(() => parseInput(settleInput, asked));

test("reading by hand returns what the schema returns, and accepts nothing that it refuses", () => {
  let byHand = 0;
  fc.assert(
    fc.property(input, (asked) => {
      const read = readSettleByHand(asked);
      if (read === null) return;
      byHand += 1;
      expect(read).toEqual(bySchema(asked));
    }),
    { numRuns: 5_000 },
  );
  expect(byHand).toBeGreaterThan(500);
});

test("no well-formed input is left to the schema", () => {
  const name = fc.constantFrom("a", "tokens", "x".repeat(128));
  const cost = fc.constantFrom(0, 1, 2 ** 53 - 1);
  const wellFormed = fc.record(
    {
      reservationId: name,
      remaining: fc.record({ cost }),
      ratelimits: fc.uniqueArray(fc.record({ name, cost }), { selector: (each) => each.name }),
    },
    { requiredKeys: ["reservationId"] },
  );
  fc.assert(
    fc.property(wellFormed, (asked) => {
      expect(readSettleByHand(asked)).toEqual(parseInput(settleInput, asked));
    }),
    { numRuns: 500 },
  );
});
