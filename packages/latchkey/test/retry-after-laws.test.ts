import { type InputOf, type Latchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf, seedsOf } from "./chance.js";
import { describeOnMemory, HOUR_MS, type TestContext } from "./test-context.js";

const MINUTE_MS = 60_000;

/** Few names and durations, so that limits of keys and their identity share names, and return after they were removed. */
const NAMES = ["parallel", "tokens"] as const;
const DURATIONS = [MINUTE_MS, 2 * MINUTE_MS] as const;

function drawLimits(chance: Chance) {
  return NAMES.filter(() => chance.below(2) === 0).map((name) => {
    const algorithm =
      chance.below(3) > 0
        ? ("concurrent" as const)
        : chance.pick(["fixed", "sliding", "token-bucket"] as const);
    return {
      ...{ name, algorithm, limit: 1 + chance.below(4), duration: chance.pick(DURATIONS) },
      ...(algorithm === "token-bucket" && { burst: 1 + chance.below(5) }),
      autoApply: chance.below(3) > 0,
    };
  });
}

function drawUses(chance: Chance) {
  if (chance.below(2) === 0) return {};
  const amount = 1 + chance.below(2);
  const refill = chance.pick([
    { interval: { every: 5 * MINUTE_MS }, amount },
    { interval: { every: 3 * MINUTE_MS }, amount, carryOver: 3 },
    { interval: "hourly", amount },
    null,
  ] as const);
  return { remaining: 1 + chance.below(6), ...(refill !== null && { refill }) };
}

/** Draws a question about a key, with costs, named limits, ad-hoc limits or none of them, all equally likely. */
function drawQuestion(chance: Chance): Omit<InputOf<"verifyKey">, "key"> {
  const ratelimits = NAMES.filter(() => chance.below(3) === 0).map((name) =>
    chance.below(3) === 0
      ? { name, limit: 1 + chance.below(3), duration: MINUTE_MS, cost: chance.below(3) }
      : { name, cost: chance.below(4) },
  );
  return {
    ...(ratelimits.length > 0 && { ratelimits }),
    ...(chance.below(3) === 0 && { remaining: { cost: chance.below(4) } }),
  };
}

/** Possible errors of a call that names a removed limit or reservation. */
const ARE_GONE: readonly string[] = ["BAD_REQUEST", "CONFLICT", "NOT_FOUND", "PRECONDITION_FAILED"];

async function unlessGone<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof LatchkeyError && ARE_GONE.includes(error.code)) return null;
    throw error;
  }
}

/** Two keys of one identity and one without an owner, with limits of the same names. */
async function setUp(context: TestContext, chance: Chance) {
  const { latchkey } = context;
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const externalId = "pier-3";
  const { identityId } = await latchkey.createIdentity({
    ...{ externalId, ratelimits: drawLimits(chance), ...drawUses(chance) },
  });
  const keys: { key: string; keyId: string }[] = [];
  for (const owner of [{ externalId }, { externalId }, {}])
    keys.push(
      await latchkey.createKey({
        ...{ apiId, ...owner, ratelimits: drawLimits(chance), ...drawUses(chance) },
      }),
    );
  return { identityId, keys };
}

/** Changes limits, rotates a key, or ends a reservation. */
async function change(
  latchkey: Latchkey,
  chance: Chance,
  { identityId, keys }: Awaited<ReturnType<typeof setUp>>,
  reservationIds: readonly string[],
) {
  const { keyId } = chance.pick(keys);
  const reservationId = chance.pick([...reservationIds, "rsv_none"]);
  const ratelimits = drawLimits(chance);
  switch (chance.below(7)) {
    case 0:
      return latchkey.updateKey({ keyId, ratelimits });
    case 1:
      return latchkey.updateIdentity({ identityId, ratelimits });
    case 2:
      return latchkey.resetLimit({ ...chance.pick([{ keyId }, { identityId }]), name: "parallel" });
    case 3:
      keys.push(await latchkey.rotateKey({ keyId, graceMs: chance.pick(DURATIONS) }));
      return null;
    case 4:
      return latchkey.renew({ reservationId });
    case 5:
      return latchkey.settle({ reservationId });
    default:
      return latchkey.release({ reservationId });
  }
}

describeOnMemory("after a refusal", (open) => {
  test.each(seedsOf(100))(
    "R1: the same request passes after exactly retryAfterMs, whatever happened to its limits (seed %i)",
    async (seed) => {
      const context = open();
      const chance = chanceOf(seed);
      const processes = [context.latchkey, context.another()] as const;
      const world = await setUp(context, chance);
      const reservationIds: string[] = [];
      for (let step = 0; step < 60; step += 1) {
        context.advance(chance.below(chance.pick([3, 3, 40_000])));
        const latchkey = chance.pick(processes);
        if (chance.below(4) === 0) {
          await unlessGone(change(latchkey, chance, world, reservationIds));
          continue;
        }
        const input = { key: chance.pick(world.keys).key, ...drawQuestion(chance) };
        // Reserved units are held for the whole test, because the wait assumes that they are used.
        const verdict = await unlessGone(
          chance.below(6) === 0
            ? latchkey.reserve({ ...input, ttl: "24h" })
            : latchkey.verifyKey(input),
        );
        if (verdict?.code === "VALID" && verdict.reservationId !== undefined)
          reservationIds.push(verdict.reservationId);
        if (verdict?.code !== "RATE_LIMITED" && verdict?.code !== "USAGE_EXCEEDED") continue;
        const { retryAfterMs } = verdict;
        if (retryAfterMs === undefined || retryAfterMs > 2 * HOUR_MS) continue;
        const isValid = async () =>
          (await chance.pick(processes).verifyKey({ ...input, dryRun: true })).valid;
        context.advance(retryAfterMs - 1);
        expect(await isValid()).toBe(false);
        context.advance(1);
        expect(await isValid()).toBe(true);
      }
    },
  );
});
