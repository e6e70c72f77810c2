import fc from "fast-check";
import { expect, test } from "vitest";
import { check, Run, roomAsIf, same, stateOf, usesAsIf } from "../testing/hold-run.js";
import { LIMITS, type PlainCounters, ROOM, refilling, steps } from "../testing/holds.js";

const granted = fc.tuple(
  fc.option(fc.nat({ max: 90 }), { freq: 8 }),
  fc.option(fc.nat({ max: 90 }), { freq: 8 }),
);

test("H1, H2, C1: whatever is held, settled and refilled in between, the result is as if only the used units had been charged", () => {
  fc.assert(
    fc.property(granted, fc.tuple(refilling, refilling), steps, (uses, refills, taken) => {
      const run = new Run(uses, refills);
      for (const [move, each] of taken) {
        run.now += move;
        run.do(each);
        for (const place of [0, 1] as const) run.refresh(place);
        check(run);
      }
    }),
    { numRuns: 400 },
  );
});

/** Like a process that learns of every end at once: nothing else happens in between. */
function passTo(run: Run, until: number): void {
  for (;;) {
    const next = Math.min(...run.holds.open.map(({ expiresAt }) => expiresAt));
    if (!(next <= until)) break;
    run.now = Math.max(run.now, next);
    for (const place of [0, 1] as const) run.refresh(place);
  }
  run.now = until;
}

test("H3: the result does not depend on when an expiry or a due refill is noticed", () => {
  fc.assert(
    fc.property(granted, fc.tuple(refilling, refilling), steps, (uses, refills, taken) => {
      const [late, early] = [new Run(uses, refills), new Run(uses, refills)];
      for (const [move, each] of taken) {
        late.now += move;
        passTo(early, late.now);
        late.do(each);
        early.do(each);
      }
      for (const run of [late, early]) {
        for (const place of [0, 1] as const) run.refresh(place);
        check(run);
      }
      for (const which of LIMITS.keys())
        expect(stateOf(late, which)).toEqual(stateOf(early, which));
    }),
    { numRuns: 200 },
  );
});

test("H1, C1: with clocks that differ, nothing is counted twice and nothing is lost", () => {
  const skews = fc.array(fc.integer({ min: -30, max: 30 }), { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(granted, steps, skews, (uses, taken, skewed) => {
      const run = new Run(uses, [null, null]);
      let time = run.now;
      for (const [index, [move, each]] of taken.entries()) {
        time += move;
        run.now = time + (skewed[index] ?? 0);
        run.do(each);
        for (const place of [0, 1] as const) {
          const { usage } = [run.holds.key, run.holds.identity][place] as PlainCounters;
          same(`uses ${place}`, usage.remaining, usesAsIf(run, place));
        }
        for (const [which, { algorithm }] of LIMITS.entries())
          if (algorithm === "concurrent")
            same("slots", ROOM - stateOf(run, which).used, roomAsIf(run, which));
      }
    }),
    { numRuns: 200 },
  );
});
