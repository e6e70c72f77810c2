import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import { describe, expect, test } from "vitest";
import { HOUR_MS, issue, openContext, rejectionOf } from "../test-context.js";

/** The process that made the reservation knows its API; another one has to find it. */
const PROCESSES = ["the same process", "another process"] as const;

describe.each([
  ["memory", () => memoryStore()],
  ["SQLite", () => sqliteStore(":memory:")],
])("on %s", (_, openStore) => {
  async function opened(process: (typeof PROCESSES)[number]) {
    const store = openStore();
    const context = openContext(() => store);
    const { apiId, keyId, key } = await issue(context, { remaining: 10 });
    const verdict = await context.latchkey.reserve({ key, remaining: { cost: 4 }, ttl: "1h" });
    const reservationId = verdict.code === "VALID" ? verdict.reservationId : "";
    const latchkey = process === "another process" ? context.another() : context.latchkey;
    const own = { apiIds: ["api_other", apiId] };
    return { ...context, latchkey, keyId, reservationId, own };
  }

  const others = { apiIds: ["api_other"] };

  describe.each(PROCESSES)("in %s", (process) => {
    test.each(["settle", "release", "renew"] as const)(
      "%s: a reservation of an API outside of the scope is not found, and stays unchanged",
      async (step) => {
        const { latchkey, keyId, reservationId, own } = await opened(process);
        for (const scope of [others, { apiIds: [] }]) {
          const unknown = await rejectionOf(latchkey[step]({ reservationId: "rsv_none" }, scope));
          const refused = await rejectionOf(latchkey[step]({ reservationId }, scope));
          expect([refused.code, refused.message]).toEqual([unknown.code, unknown.message]);
          expect(refused.code).toBe("NOT_FOUND");
        }
        expect((await latchkey.listReservations({ keyId })).reservations).toHaveLength(1);
        expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 6, reserved: 4 });
        expect(await latchkey[step]({ reservationId }, own)).toBeDefined();
      },
    );

    test("the answer to a repetition is also limited to the scope", async () => {
      const { latchkey, reservationId, own } = await opened(process);
      const first = await latchkey.settle({ reservationId }, own);
      expect(await latchkey.settle({ reservationId }, own)).toEqual(first);
      const error = await rejectionOf(latchkey.settle({ reservationId }, others));
      expect(error.code).toBe("NOT_FOUND");
    });

    test("only callers within the scope learn that a reservation has expired", async () => {
      const { latchkey, reservationId, own, advance } = await opened(process);
      advance(HOUR_MS);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const error = await rejectionOf(latchkey.settle({ reservationId }, own));
        expect(error).toMatchObject({ reason: "reservation-expired" });
      }
    });
  });
});
