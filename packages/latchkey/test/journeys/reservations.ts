import type { InputOf, Latchkey } from "@latchkey/core";
import { expect } from "vitest";
import { expectRefused, issue, NOON, type TestContext } from "../test-context.js";
import type { Journey } from "./journey.js";

const MINUTE_MS = 60_000;

/** Makes a reservation, and returns its id. */
async function reserve(latchkey: Latchkey, input: InputOf<"reserve">): Promise<string> {
  const verdict = await latchkey.reserve(input);
  expect(verdict).toMatchObject({ code: "VALID", reservationId: expect.stringMatching(/^rsv_/) });
  return verdict.code === "VALID" ? verdict.reservationId : "";
}

/** reserve, settle, release, renew, listReservations. */
export const RESERVATIONS: Journey = {
  resource: "reservations",
  title:
    "hold uses, units and slots until they are settled, released or over, for every process at once",
  async run(context) {
    await settleWhatItCost(context);
    await admitWhatIsNotHeld(context);
    await expireByThemselves(context);
    await shareTheUsesOfAnIdentity(context);
    await holdSlots(context);
  },
};

async function settleWhatItCost(context: TestContext) {
  const { latchkey } = context;
  const other = context.another();
  const { keyId, key } = await issue(context, {
    remaining: 100,
    ratelimits: [{ name: "tokens", limit: 50, duration: MINUTE_MS }],
  });
  const input = { key, remaining: { cost: 40 }, ratelimits: [{ name: "tokens", cost: 30 }] };
  const reservationId = await reserve(latchkey, { ...input, ttl: "1m" });
  expect(await other.getKey({ keyId })).toMatchObject({ remaining: 60, reserved: 40 });
  expect(await other.listReservations({ keyId })).toEqual({
    reservations: [
      {
        reservationId,
        keyId,
        createdAt: context.now(),
        expiresAt: context.now() + MINUTE_MS,
        uses: 40,
        ratelimits: [{ name: "tokens", cost: 30 }],
      },
    ],
  });
  expect(await other.renew({ reservationId, ttl: "2m" })).toEqual({
    expiresAt: context.now() + 2 * MINUTE_MS,
  });
  await expectRefused("PRECONDITION_FAILED", [
    other.settle({ reservationId, remaining: { cost: 41 } }),
  ]);
  await expectRefused("BAD_REQUEST", [
    other.settle({ reservationId, ratelimits: [{ name: "other", cost: 1 }] }),
    latchkey.reserve({ key, ttl: 999 }),
  ]);
  const taken = { uses: 12, ratelimits: [{ name: "tokens", cost: 5 }] };
  const cost = { remaining: { cost: 12 }, ratelimits: [{ name: "tokens", cost: 5 }] };
  for (const each of [other, latchkey])
    expect(await each.settle({ reservationId, ...cost })).toEqual({ remaining: 88, taken });
  await expectRefused("CONFLICT", [
    other.settle({ reservationId }),
    other.release({ reservationId }),
    other.renew({ reservationId }),
  ]);
  await expectRefused("NOT_FOUND", [
    latchkey.settle({ reservationId: "rsv_none" }),
    latchkey.release({ reservationId: "rsv_none" }),
    latchkey.renew({ reservationId: "rsv_none" }),
    latchkey.workspace("ws_other").settle({ reservationId }),
    latchkey.listReservations({ keyId: "key_none" }),
  ]);
  expect(await latchkey.getKey({ keyId })).not.toHaveProperty("reserved");
  const look = { key, remaining: { cost: 0 }, ratelimits: [{ name: "tokens", cost: 45 }] };
  expect(await other.verifyKey(look)).toMatchObject({ code: "VALID", remaining: 88 });
}

async function admitWhatIsNotHeld(context: TestContext) {
  const { latchkey } = context;
  const other = context.another();
  const { keyId, key } = await issue(context, { remaining: 10 });
  const verdicts = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      at % 2 === 0 ? latchkey.reserve({ key }) : other.verifyKey({ key }),
    ),
  );
  expect(verdicts.filter(({ valid }) => valid)).toHaveLength(10);
  const open: string[] = [];
  for await (const { reservationId } of other.reservations({ keyId, limit: 3 }))
    open.push(reservationId);
  const held = verdicts.flatMap((verdict) =>
    verdict.code === "VALID" ? (verdict.reservationId ?? []) : [],
  );
  expect([...open].sort()).toEqual([...held].sort());
  await Promise.all(open.map((reservationId) => other.release({ reservationId })));
  expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: held.length });
}

async function expireByThemselves(context: TestContext) {
  const { latchkey } = context;
  const other = context.another();
  const { keyId, key } = await issue(context, { remaining: 5 });
  const reservationId = await reserve(latchkey, { key, remaining: { cost: 5 }, ttl: "1s" });
  context.advance(999);
  expect(await other.reserve({ key })).toMatchObject({ code: "USAGE_EXCEEDED" });
  context.advance(1);
  expect(await other.verifyKey({ key })).toMatchObject({ code: "VALID", remaining: 4 });
  await expectRefused("PRECONDITION_FAILED", [
    latchkey.settle({ reservationId }),
    other.renew({ reservationId }),
  ]);
  expect(await latchkey.listReservations({ keyId })).toEqual({ reservations: [] });
}

async function shareTheUsesOfAnIdentity(context: TestContext) {
  const { latchkey } = context;
  const externalId = "team-of-reservations";
  const { identityId } = await latchkey.createIdentity({ externalId, remaining: 20 });
  const one = await issue(context, { externalId, usesFrom: "identity" });
  const next = await issue(context, { externalId, usesFrom: "identity" });
  const first = await reserve(latchkey, { key: one.key, remaining: { cost: 8 } });
  const second = await reserve(latchkey, { key: next.key, remaining: { cost: 8 } });
  const shared = { remaining: 4, reserved: 16 };
  expect(await latchkey.getIdentity({ identityId })).toMatchObject(shared);
  expect(await latchkey.getKey({ keyId: one.keyId })).toMatchObject(shared);
  const { reservations } = await latchkey.listReservations({ identityId });
  expect(reservations.map(({ reservationId, keyId }) => [reservationId, keyId])).toEqual([
    [first, one.keyId],
    [second, next.keyId],
  ]);
  expect(await latchkey.settle({ reservationId: first, remaining: { cost: 1 } })).toMatchObject({
    remaining: 11,
  });
  await latchkey.release({ reservationId: second });
  expect(await latchkey.getIdentity({ identityId })).toMatchObject({ remaining: 19 });
}

async function holdSlots(context: TestContext) {
  const { latchkey } = context;
  const other = context.another();
  const duration = 2 * MINUTE_MS;
  const parallel = { name: "parallel", limit: 3, duration, algorithm: "concurrent" } as const;
  const { key } = await issue(context, { ratelimits: [{ ...parallel, autoApply: true }] });
  const verdicts = await Promise.all(
    Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? latchkey : other).verifyKey({ key })),
  );
  const slots = verdicts.flatMap((verdict) =>
    verdict.code === "VALID" ? (verdict.reservationId ?? []) : [],
  );
  expect(slots).toHaveLength(3);
  expect(await other.verifyKey({ key })).toMatchObject({
    code: "RATE_LIMITED",
    retryAfterMs: duration,
    ratelimits: [{ name: "parallel", algorithm: "concurrent", remaining: 0, exceeded: true }],
  });
  await other.release({ reservationId: slots[0] ?? "" });
  expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "VALID" });
  context.advance(duration / 2);
  await latchkey.renew({ reservationId: slots[1] ?? "" });
  context.advance(duration / 2);
  expect(await other.verifyKey({ key })).toMatchObject({
    code: "VALID",
    ratelimits: [{ remaining: 1 }],
  });
  expect(context.now()).toBeGreaterThan(NOON);
}
