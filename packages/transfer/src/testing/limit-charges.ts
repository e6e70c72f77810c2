import {
  createLatchkey,
  type KeyStore,
  LIMIT_ALGORITHMS,
  type LimitAlgorithm,
} from "@latchkey/core";
import fc from "fast-check";

const figuresOf = (algorithms: readonly LimitAlgorithm[]) =>
  fc
    .record({
      algorithm: fc.constantFrom(...algorithms),
      limit: fc.integer({ min: 1, max: 30 }),
      duration: fc.integer({ min: 1, max: 5_000 }),
      burst: fc.integer({ min: 1, max: 40 }),
      shadow: fc.boolean(),
    })
    .map(({ burst, shadow, ...limit }) =>
      limit.algorithm === "token-bucket"
        ? { ...limit, burst, shadow }
        : { ...limit, shadow: shadow && limit.algorithm !== "concurrent" },
    );
const figures = figuresOf(LIMIT_ALGORITHMS);
/** Without concurrent limits: nothing could free the slots of one that belongs to no key. */
const figuresAlone = figuresOf(LIMIT_ALGORITHMS.filter((each) => each !== "concurrent"));
const named = (prefix: string) =>
  fc
    .array(figures, { minLength: 2, maxLength: 3 })
    .map((limits) =>
      limits.map((limit, at) => ({ name: `${prefix}${at}`, ...limit, autoApply: true })),
    );
/** Limits of a key, of its identity, of requests, and without an owner. */
export const setup = fc.record({
  own: named("own"),
  shared: named("shared"),
  made: named("made").map((limits) => limits.map(({ autoApply: _, ...limit }) => limit)),
  alone: fc.array(figuresAlone, { minLength: 2, maxLength: 3 }),
});
/** Successive charges: the costs, and the ms since the previous one. */
export const charges = fc.array(
  fc.record({
    move: fc.oneof(fc.nat({ max: 60 }), fc.nat({ max: 3_000 })),
    costs: fc.array(fc.nat({ max: 6 }), { minLength: 3, maxLength: 3 }),
  }),
  { minLength: 30, maxLength: 30 },
);

/** A value of {@link setup}. */
export type Setup = typeof setup extends fc.Arbitrary<infer Value> ? Value : never;
/** A value of {@link charges}. */
export type Charges = typeof charges extends fc.Arbitrary<infer Value> ? Value : never;

/** A latchkey with its own clock. It leaves the store open. */
export function openOn(store: KeyStore, startAt: number) {
  let now = startAt;
  const latchkey = createLatchkey({ store, clock: () => now, usage: false });
  /** The decision on each charge, in order. */
  const decide = async ({ own, shared, made, alone }: Setup, key: string, list: Charges) => {
    const decided: unknown[] = [];
    for (const { move, costs } of list) {
      now += move;
      const at = <Limit extends object>(limits: readonly Limit[]) =>
        limits.map((limit, index) => ({ ...limit, cost: costs[index] ?? 0 }));
      const byName = at([...own, ...shared]).map(({ name, cost }) => ({ name, cost }));
      const { code, ratelimits, retryAfterMs } = {
        ratelimits: undefined,
        retryAfterMs: undefined,
        ...(await latchkey.verifyKey({ key, ratelimits: [...byName, ...at(made)] })),
      };
      decided.push({ code, ratelimits, retryAfterMs });
      for (const limit of at(alone))
        decided.push(await latchkey.limit({ identifier: "192.0.2.7", ...limit }));
    }
    return decided;
  };
  return { latchkey, decide };
}
