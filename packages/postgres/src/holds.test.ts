import { createLatchkey, type Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { migrate, postgresStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { ownServer } from "./testing/own-server.js";
import { PATIENT } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

/** When all reservations are over. */
const later = () => Date.now() + 600_000;

describeWithServers("holds in PostgreSQL", () => {
  const own = ownServer();

  const openIn = (schema: string, clock = Date.now) =>
    createLatchkey({ store: postgresStore(own.pool, { ...PATIENT, schema }), clock, usage: false });

  async function reserve(latchkey: Latchkey, key: string, cost: number): Promise<string> {
    const verdict = await latchkey.reserve({ key, remaining: { cost } });
    if (verdict.code !== "VALID") throw new Error(`refused: ${verdict.code}`);
    return verdict.reservationId;
  }

  test("an earlier schema gets a place for holds, and its data stays as it is", async () => {
    const schema = "without_holds";
    await migrate(own.pool, { schema });
    const before = openIn(schema);
    const { apiId } = await before.createApi({ name: "tiles" });
    const ratelimit = { limit: 10, duration: 60_000_000 };
    const { key, keyId } = await before.createKey({ apiId, remaining: 10, ratelimit });
    await before.verifyKey({ key });
    await own.pool.query(`DROP TABLE ${schema}.hold CASCADE; ALTER TABLE ${schema}.counters DROP COLUMN holds;
      DROP TYPE ${schema}.plan, ${schema}.hold_step CASCADE; UPDATE ${schema}.schema_version SET version = 4`);

    const latchkey = openIn(schema);
    expect(await latchkey.verifyKey({ key })).toMatchObject({
      remaining: 8,
      ratelimit: { remaining: 8 },
    });
    const reservationId = await reserve(latchkey, key, 5);
    expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 3 });
    expect(
      await latchkey.settle({ reservationId, remaining: { cost: 1 }, ratelimits: [] }),
    ).toMatchObject({ remaining: 7 });
  });

  test("damaged holds are never answered, and their key can be deleted", async () => {
    const schema = "damaged_holds";
    const latchkey = openIn(schema);
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const sums = [
      "x",
      "1;2",
      "-1;1;1;1;0;;",
      "1;1;1;1;0;;;",
      "9e9;1;1;1;0;;",
      `${2n ** 64n};1;1;1;0;;`,
    ];
    for (const damage of sums) {
      const { key, keyId } = await latchkey.createKey({ apiId, remaining: 10 });
      const reservationId = await reserve(latchkey, key, 2);
      await own.pool.query(`UPDATE ${schema}.counters SET holds = $1 WHERE holds IS NOT NULL`, [
        damage,
      ]);
      for (const call of [
        () => latchkey.verifyKey({ key }),
        () => latchkey.reserve({ key }),
        () => latchkey.settle({ reservationId }),
        () => latchkey.updateRemaining({ keyId, op: "increment", value: 1 }),
      ])
        expect(await errorOf(call()), damage).toMatchObject({ code: "STORE_CORRUPT" });
      await latchkey.deleteKey({ keyId });
      expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "NOT_FOUND" });
    }
    const texts = [
      "x",
      "a - 1 2",
      "key - 1 2 3 4 0 0 0/w=1",
      "key - 1 2 3 -4 0 0",
      "key - 1 2 3 x 0 0",
    ];
    for (const damage of texts) {
      const { key, keyId } = await latchkey.createKey({ apiId, remaining: 10 });
      const reservationId = await reserve(latchkey, key, 2);
      await own.pool.query(`UPDATE ${schema}.hold SET value = $1 WHERE id = $2`, [
        damage,
        reservationId,
      ]);
      for (const call of [
        () => latchkey.settle({ reservationId }),
        () => latchkey.renew({ reservationId }),
        () => latchkey.listReservations({ keyId }),
        () => openIn(schema, later).verifyKey({ key }),
      ])
        expect(await errorOf(call()), damage).toMatchObject({ code: "STORE_CORRUPT" });
      expect(await latchkey.verifyKey({ key })).toMatchObject({ remaining: 7 });
      // Even after they have expired.
      await openIn(schema, later).deleteKey({ keyId });
    }
    expect((await own.pool.query(`SELECT FROM ${schema}.hold`)).rowCount).toBe(0);
  });

  test("a hold that is over and damaged keeps no other from being settled", async () => {
    const schema = "damaged_other";
    const latchkey = openIn(schema);
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const { key } = await latchkey.createKey({ apiId, remaining: 10 });
    const damaged = await reserve(latchkey, key, 2);
    const sound = await latchkey.reserve({ key, remaining: { cost: 4 }, ttl: "24h" });
    if (sound.code !== "VALID") throw new Error(sound.code);
    await own.pool.query(`UPDATE ${schema}.hold SET value = 'x' WHERE id = $1`, [damaged]);
    const { reservationId } = sound;
    const settled = await openIn(schema, later).settle({ reservationId, remaining: { cost: 1 } });
    // How much the damaged one holds is unknown.
    expect(settled).toEqual({ remaining: 7, taken: { uses: 1, ratelimits: [] } });
  });

  test("a damaged end fails its own repeat, and no other in the same statement", async () => {
    const schema = "damaged_ends";
    const latchkey = openIn(schema);
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const { key } = await latchkey.createKey({ apiId, remaining: 10 });
    const ids = [await reserve(latchkey, key, 1), await reserve(latchkey, key, 1)];
    const [damaged = "", other = ""] = ids;
    for (const reservationId of ids) await latchkey.settle({ reservationId });
    await own.pool.query(`UPDATE ${schema}.passing SET value = '1 x y' WHERE name LIKE '%' || $1`, [
      damaged,
    ]);
    const repeats = await Promise.allSettled(
      ids.map((reservationId) => latchkey.settle({ reservationId })),
    );
    expect(repeats).toMatchObject([
      { status: "rejected", reason: { code: "STORE_CORRUPT" } },
      { status: "fulfilled", value: { taken: { uses: 1 } } },
    ]);
    expect(await latchkey.settle({ reservationId: other })).toMatchObject({ remaining: 8 });
  });

  test("reservations, their ends and verifications of one turn all settle, and add up", async () => {
    const latchkey = openIn("one_turn");
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const keys: { readonly key: string; readonly keyId: string }[] = [];
    for (let number = 0; number < 4; number += 1) {
      const externalId = `owner_${number % 2}`;
      keys.push(await latchkey.createKey({ apiId, externalId, remaining: 1_000 }));
    }
    const at = (index: number) => keys[index % keys.length]?.key ?? "";
    const open = await Promise.all(
      Array.from({ length: 40 }, (_, at_) => reserve(latchkey, at(at_), 3)),
    );
    const done = await Promise.allSettled(
      open.flatMap((reservationId, index) => [
        latchkey.settle({ reservationId, remaining: { cost: 2 } }),
        latchkey.verifyKey({ key: at(index) }),
        reserve(latchkey, at(index + 1), 1),
        // A slower or later repeat is a conflict, or has the figures of the first.
        latchkey.settle({ reservationId, remaining: { cost: 2 } }),
      ]),
    );
    expect(done.filter(({ status }) => status === "rejected")).toEqual([]);
    for (const { keyId } of keys)
      expect(await latchkey.getKey({ keyId })).toMatchObject({
        remaining: 1_000 - 10 * (2 + 1 + 1),
      });
    const after = openIn("one_turn", later);
    for (const { keyId } of keys)
      expect((await after.getKey({ keyId })).remaining).toBe(1_000 - 10 * (2 + 1));
    const { rows } = await own.pool.query(
      "SELECT holds FROM one_turn.counters WHERE holds IS NOT NULL",
    );
    expect(rows).toEqual([]);
  });

  test("a busy key does not hold up the end of another key's hold", async () => {
    const schema = "busy";
    const latchkey = openIn(schema);
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const [busy, free] = [
      await latchkey.createKey({ apiId, remaining: 10 }),
      await latchkey.createKey({ apiId, remaining: 10 }),
    ];
    const [held, other] = [
      await reserve(latchkey, busy.key, 1),
      await reserve(latchkey, free.key, 1),
    ];
    const holder = await own.pool.connect();
    await holder.query(`BEGIN; SELECT FROM ${schema}.counters c JOIN ${schema}.record r ON r.counters = c.seq
      WHERE r.id = '${busy.keyId}' FOR UPDATE OF c`);
    const waiting = latchkey.settle({ reservationId: held });
    expect(await latchkey.settle({ reservationId: other })).toMatchObject({ remaining: 9 });
    await holder.query("ROLLBACK");
    holder.release();
    expect(await waiting).toMatchObject({ remaining: 9 });
  });
});
