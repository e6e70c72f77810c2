import { expect, test } from "vitest";
import { openService } from "../testing/open-service.js";

/** A key with 100 uses and a limit, and a reservation of 40 of them. */
async function open() {
  const service = await openService();
  const { apiId } = await service.ok("apis.createApi", { name: "maps" });
  const ratelimits = [{ name: "tokens", limit: 100, duration: 60_000, autoApply: true }];
  const { key } = await service.ok("keys.createKey", { apiId, remaining: 100, ratelimits });
  const reserve = { key, remaining: { cost: 40 }, ratelimits: [{ name: "tokens", cost: 7 }] };
  const { reservationId } = await service.ok("keys.reserve", reserve);
  /** What the body of a refusal has beside its text. */
  const why = async (...given: Parameters<typeof service.call>) => {
    const { status, body } = await service.call(...given);
    const { message, requestId, ...rest } = body.error;
    return { status, ...rest };
  };
  return { service, apiId, reservationId, why };
}

test("a settlement that is refused says why, so that no client must read the message", async () => {
  const { service, reservationId, why } = await open();
  const settle = (cost: number) =>
    why("keys.settleReservation", { reservationId, remaining: { cost } });
  expect(await settle(41)).toEqual({
    status: 412,
    code: "PRECONDITION_FAILED",
    reason: "over-reservation",
    details: { reserved: { uses: 40, ratelimits: [{ name: "tokens", cost: 7 }] } },
  });
  await service.ok("keys.settleReservation", { reservationId, remaining: { cost: 40 } });
  expect(await settle(39)).toEqual({
    status: 409,
    code: "CONFLICT",
    reason: "reservation-ended",
  });
});

test("an expired reservation has another reason", async () => {
  const { service, reservationId, why } = await open();
  service.advance(300_000);
  for (const step of ["settle", "release", "renew"])
    expect(await why(`keys.${step}Reservation`, { reservationId })).toEqual({
      status: 412,
      code: "PRECONDITION_FAILED",
      reason: "reservation-expired",
    });
});

test("what is above a ceiling is named, with its bound", async () => {
  const { service, apiId, why } = await open();
  const ceilings = { maxRemaining: 5, permissions: ["docs.*"] };
  await service.ok("apis.updateApi", { apiId, ceilings });
  const refused = { status: 412, code: "PRECONDITION_FAILED", reason: "above-ceiling" };
  expect(await why("keys.createKey", { apiId, remaining: 6 })).toEqual({
    ...refused,
    details: { field: "remaining", limit: 5 },
  });
  await service.ok("permissions.createPermission", { name: "maps.read" });
  expect(await why("keys.createKey", { apiId, remaining: 5, permissions: ["maps.read"] })).toEqual({
    ...refused,
    details: { field: "permissions", limit: ["docs.*"] },
  });
});

test("a question that cannot be sorted, and a reused Idempotency-Key, have reasons", async () => {
  const { service, why } = await open();
  expect(await why("keys.listKeys", { orderBy: "expires" })).toEqual({
    status: 412,
    code: "PRECONDITION_FAILED",
    reason: "too-many-keys",
    details: { limit: 2_000 },
  });
  const headers = { "idempotency-key": "job 7" };
  await service.ok("apis.createApi", { name: "tides" }, { headers });
  expect(await why("apis.createApi", { name: "harbour" }, { headers })).toEqual({
    status: 409,
    code: "CONFLICT",
    reason: "idempotency-key-reused",
  });
});

test("errors that v1 had before have no reason, as ever", async () => {
  const { service, apiId, why } = await open();
  await service.ok("identities.createIdentity", { externalId: "user_1" });
  expect(await why("identities.createIdentity", { externalId: "user_1" })).toEqual({
    status: 409,
    code: "CONFLICT",
  });
  expect(await why("keys.createKey", { apiId, roles: ["none"] })).toEqual({
    status: 412,
    code: "PRECONDITION_FAILED",
  });
});
