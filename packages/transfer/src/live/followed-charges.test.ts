import { createLatchkey } from "@latchkey/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copy } from "../copy.js";
import { behindTheKeys } from "../testing/behind-the-keys.js";
import { KINDS, startStores, type TestStores } from "../testing/stores.js";

let stores: TestStores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores.close());

const HOUR_MS = 3_600_000;
const MAIL = { namespace: "mail", identifier: "a@b", limit: 10, duration: HOUR_MS } as const;

describe.each(KINDS)("while a live copy follows %s", (kind) => {
  test.each([
    { counts: "beside the charge", durable: false },
    { counts: "in its step", durable: true },
  ])("charges of every kind arrive, with their counts $counts", async ({ durable }) => {
    const [source, target] = [stores.open(kind), stores.open("memory")];
    const store = { ...source, close: async () => undefined };
    const latchkey = createLatchkey({ store, usage: { durable } });
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const shared = { limit: 500, duration: HOUR_MS, autoApply: true };
    const ratelimits = [{ name: "shared", ...shared }];
    await latchkey.createIdentity({ externalId: "acct_1", remaining: 1_000, ratelimits });
    const { key: shares } = await latchkey.createKey({
      apiId,
      externalId: "acct_1",
      usesFrom: "identity",
      tags: ["eu", "billing"],
      ratelimits: [
        { name: "own", ...shared, algorithm: "sliding" },
        { name: "parallel", limit: 3, duration: 60_000, autoApply: true, algorithm: "concurrent" },
      ],
    });
    const { key: own } = await latchkey.createKey({ apiId, remaining: 100 });
    const from = behindTheKeys(source, async () => {
      const worked = await latchkey.reserve({ key: shares, remaining: { cost: 10 } });
      const open = await latchkey.reserve({ key: own, remaining: { cost: 10 }, requestId: "r1" });
      const slot = await latchkey.verifyKey({ key: shares });
      if (!(worked.valid && open.valid && slot.valid)) return expect.unreachable();
      const { reservationId } = worked;
      await latchkey.settle({ reservationId, remaining: { cost: 7 } });
      await latchkey.release({ reservationId: `${slot.reservationId}` });
      for (let time = 0; time < 2; time += 1)
        await latchkey.verifyKey({ key: own, requestId: "r2" });
      await latchkey.limit(MAIL);
    });
    await copy(from, target, { live: true });
    const there = createLatchkey({ store: target });
    expect(await there.verifyKey({ key: own })).toMatchObject({ remaining: 100 - 10 - 1 - 1 });
    expect(await there.verifyKey({ key: shares })).toMatchObject({
      remaining: 1_000 - 7 - 1 - 1,
      ratelimits: [
        { name: "own", remaining: 500 - 3 },
        { name: "parallel", remaining: 3 - 1 },
        { name: "shared", remaining: 500 - 3 },
      ],
    });
    expect(await there.limit(MAIL)).toMatchObject({ remaining: 10 - 2 });
  });
});
