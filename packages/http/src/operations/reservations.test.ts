import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { openService, START } from "../testing/open-service.js";

async function open(settings: object = { remaining: 100 }) {
  const service = await openService();
  const { apiId } = await service.ok("apis.createApi", { name: "maps" });
  const { keyId, key } = await service.ok("keys.createKey", { apiId, ...settings });
  const reserve = (cost: number, more: object = {}) =>
    service.ok("keys.reserve", { key, remaining: { cost }, ...more });
  const remaining = async () => {
    const { remaining: left, reserved } = await service.ok("keys.getKey", { keyId });
    return { left, reserved };
  };
  return { service, apiId, keyId, key, reserve, remaining };
}

const FREE = { left: 100, reserved: undefined };

describe("a reservation over HTTP", () => {
  test("is held in addition to remaining, until it is settled with its cost", async () => {
    const { service, reserve, remaining } = await open();
    const verdict = await reserve(40);
    expect(verdict).toMatchObject({ code: "VALID", remaining: 60, expiresAt: START + 300_000 });
    expect(await remaining()).toEqual({ left: 60, reserved: 40 });
    const { reservationId } = verdict;
    const settled = { remaining: 88, taken: { uses: 12, ratelimits: [] } };
    const input = { reservationId, remaining: { cost: 12 } };
    expect(await service.ok("keys.settleReservation", input)).toEqual(settled);
    expect(await service.ok("keys.settleReservation", input)).toEqual(settled);
    expect(await remaining()).toEqual({ left: 88, reserved: undefined });
  });

  test("that is released gives back everything", async () => {
    const { service, reserve, remaining } = await open();
    const { reservationId } = await reserve(40);
    expect(await service.ok("keys.releaseReservation", { reservationId })).toEqual({
      remaining: 100,
      taken: { uses: 0, ratelimits: [] },
    });
    expect(await remaining()).toEqual(FREE);
  });

  test("is renewed from now on, and is over exactly at its expiresAt", async () => {
    const { service, reserve, remaining } = await open();
    const { reservationId } = await reserve(40, { ttl: "10s" });
    service.advance(9_000);
    const { expiresAt } = await service.ok("keys.renewReservation", { reservationId });
    expect(expiresAt).toBe(service.now() + 10_000);
    service.advance(9_999);
    expect(await remaining()).toEqual({ left: 60, reserved: 40 });
    service.advance(1);
    expect(await remaining()).toEqual(FREE);
    for (const step of ["settle", "release", "renew"]) {
      const { status, body } = await service.call(`keys.${step}Reservation`, { reservationId });
      expect([status, body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
      expect(body.error.message).toContain("this reservation has expired");
    }
  });

  test("settled with more than it holds is a 412, and settled again with other figures a 409", async () => {
    const { service, reserve, remaining } = await open();
    const { reservationId } = await reserve(40);
    const settle = (cost: number) =>
      service.call("keys.settleReservation", { reservationId, remaining: { cost } });
    expect(await settle(41)).toMatchObject({
      status: 412,
      body: { error: { code: "PRECONDITION_FAILED" } },
    });
    expect(await remaining()).toEqual({ left: 60, reserved: 40 });
    expect(await settle(40)).toMatchObject({ status: 200 });
    expect(await settle(39)).toMatchObject({ status: 409, body: { error: { code: "CONFLICT" } } });
    expect(await service.call("keys.renewReservation", { reservationId })).toMatchObject({
      status: 409,
    });
  });

  test("is a 412 the 1,001st time, and nothing is taken", async () => {
    const { service, key, remaining } = await open({ remaining: 2_000 });
    const once = () => service.call("keys.reserve", { key });
    for (let open = 0; open < 1_000; open += 1) expect((await once()).status).toBe(200);
    const { status, body } = await once();
    expect([status, body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
    expect(await remaining()).toEqual({ left: 1_000, reserved: 1_000 });
  });

  test("names a limit that it does not hold in issues", async () => {
    const { service, reserve } = await open();
    const { reservationId } = await reserve(1);
    const input = { reservationId, ratelimits: [{ name: "tokens", cost: 1 }] };
    const { status, body } = await service.call("keys.settleReservation", input);
    expect(status).toBe(400);
    expect(body.error.issues).toEqual([
      { path: "ratelimits.0.name", message: expect.stringContaining("must name a limit") },
    ]);
  });

  test("is returned again for a retry with its Idempotency-Key; with another ttl it is a 409", async () => {
    const { service, key, remaining } = await open();
    const headers = { "idempotency-key": "job 7" };
    const input = { key, remaining: { cost: 5 } };
    const first = await service.ok("keys.reserve", input, { headers });
    const again = await service.ok("keys.reserve", input, { headers });
    expect(again.reservationId).toBe(first.reservationId);
    expect(await remaining()).toEqual({ left: 95, reserved: 5 });
    const other = await service.call("keys.reserve", { ...input, ttl: 1_000 }, { headers });
    expect(other.status).toBe(409);
  });

  test("is listed while it is open, in pages, by its key and by its identity", async () => {
    const { service, keyId, reserve } = await open({ remaining: 100, externalId: "user_1" });
    const { id: identityId } = await service.ok("identities.getIdentity", { externalId: "user_1" });
    const ids: string[] = [];
    for (const cost of [1, 2, 3]) ids.push((await reserve(cost)).reservationId);
    for (const of of [{ keyId }, { identityId }]) {
      const first = await service.ok("keys.listReservations", { ...of, limit: 2 });
      expect(first.reservations).toEqual(
        [0, 1].map((index) => ({
          reservationId: ids[index],
          keyId,
          createdAt: START,
          expiresAt: START + 300_000,
          uses: index + 1,
          ratelimits: [],
        })),
      );
      const { cursor } = first;
      const second = await service.ok("keys.listReservations", { ...of, limit: 2, cursor });
      expect(second.reservations.map((one: { uses: number }) => one.uses)).toEqual([3]);
      expect(second.cursor).toBeUndefined();
    }
    const both = await service.call("keys.listReservations", { keyId, identityId });
    expect(both.status).toBe(400);
  });
});

test("a verification that takes a slot returns the reservation that frees it", async () => {
  const parallel = { name: "parallel", limit: 2, duration: 60_000, algorithm: "concurrent" };
  const { service, keyId, key } = await open({ ratelimits: [{ ...parallel, autoApply: true }] });
  const verify = () => service.ok("keys.verifyKey", { key });
  const { reservationId, expiresAt, ratelimits } = await verify();
  expect(expiresAt).toBe(START + 60_000);
  expect(ratelimits).toEqual([
    { ...parallel, remaining: 1, reset: START + 60_000, exceeded: false },
  ]);
  await verify();
  const refused = await verify();
  expect(refused).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 60_000 });
  expect(refused).not.toHaveProperty("reservationId");
  const { reservations } = await service.ok("keys.listReservations", { keyId });
  expect(reservations[0]).toMatchObject({ uses: 0, ratelimits: [{ name: "parallel", cost: 1 }] });
  await service.ok("keys.releaseReservation", { reservationId });
  expect((await verify()).code).toBe("VALID");
});

describe("a caller that may settle for one API", () => {
  const OTHER = ["api.api_other.settle_reservation"];

  /** Callers in two processes on one store: the one that reserved, and another. */
  async function openTwo() {
    const store = memoryStore();
    const authenticate = (request: Request) => ({
      workspaceId: "ws_default",
      permissions: JSON.parse(request.headers.get("x-permissions") ?? '["*"]'),
    });
    const one = await openService({ store, authenticate });
    const another = await openService({ store, authenticate });
    const { apiId } = await one.latchkey.createApi({ name: "maps" });
    const { keyId, key } = await one.latchkey.createKey({ apiId, remaining: 100 });
    const held = await one.latchkey.reserve({ key, remaining: { cost: 40 } });
    if (held.code !== "VALID") throw new Error(held.code);
    const { reservationId } = held;
    const as = (permissions: readonly string[]) => ({
      token: null,
      headers: { "x-permissions": JSON.stringify(permissions) },
    });
    const own = [`api.${apiId}.settle_reservation`];
    return { processes: [one, another], keyId, reservationId, as, own };
  }

  test.each(["settle", "release", "renew"])(
    "%s: those of another API and those that do not exist are refused alike, in every process",
    async (step) => {
      const { processes, keyId, reservationId, as, own } = await openTwo();
      for (const service of processes) {
        const call = (id: string, permissions: readonly string[]) =>
          service.call(`keys.${step}Reservation`, { reservationId: id }, as(permissions));
        const others = await call(reservationId, OTHER);
        const unknown = await call("rsv_none", OTHER);
        expect([others.status, others.body.error.code]).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
        expect(unknown.body.error.message).toBe(others.body.error.message);
        expect((await service.latchkey.getKey({ keyId })).reserved).toBe(40);
      }
      // A caller of that API settles it in any process, and the repeat is refused to other callers, too.
      for (const service of [...processes].reverse()) {
        const name = `keys.${step}Reservation`;
        expect((await service.call(name, { reservationId }, as(own))).status).toBe(200);
        expect((await service.call(name, { reservationId }, as(OTHER))).status).toBe(403);
      }
    },
  );

  test("learns in every process that a reservation of that API has expired", async () => {
    const { processes, reservationId, as, own } = await openTwo();
    for (const service of processes) {
      service.advance(300_000);
      const { status } = await service.call("keys.settleReservation", { reservationId }, as(own));
      expect(status).toBe(412);
    }
  });
});

test("v2 reserves, settles, renews and lists in its own format", async () => {
  const { service, keyId, key } = await open();
  const call = async (name: string, input: object) =>
    (await service.ok(`keys.${name}`, input, { version: "v2" })).data;
  const { reservationId, credits, expiresAt } = await call("reserve", {
    key,
    credits: { cost: 40 },
    ttl: "1m",
  });
  expect([credits, expiresAt]).toEqual([60, START + 60_000]);
  expect((await call("getKey", { keyId })).credits).toEqual({ remaining: 60, reserved: 40 });
  expect(await call("renewReservation", { reservationId, ttl: 5_000 })).toEqual({
    expiresAt: START + 5_000,
  });
  const [listed] = await call("listReservations", { keyId });
  expect(listed).toMatchObject({ reservationId, credits: 40, ratelimits: [] });
  expect(await call("settleReservation", { reservationId, credits: { cost: 7 } })).toEqual({
    remaining: 93,
    taken: { credits: 7, ratelimits: [] },
  });
  const held = await call("reserve", { key });
  expect(await call("releaseReservation", { reservationId: held.reservationId })).toMatchObject({
    remaining: 93,
  });
});
