import { createLatchkey } from "@latchkey/core";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CHARGE } from "./engine/migrations/charge.js";
import { COMMIT } from "./engine/migrations/commit.js";
import { HOLD_RULES } from "./engine/migrations/hold-rules.js";
import { RULES } from "./engine/migrations/rules.js";
import { SETTLE } from "./engine/migrations/settle.js";
import { ADD_STATISTICS } from "./engine/migrations/statistics.js";
import { VIEWS } from "./engine/migrations/views.js";
import { createStatements } from "./engine/statements.js";
import { postgresStore } from "./index.js";
import { startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

const TYPES = ["text", "bigint", "integer", "smallint", "jsonb", "numeric", "text[]"];
const MORE_TYPES = [...TYPES, "boolean", "bytea", "xid", "bigint[]", "double precision", "varchar"];
const OPERATORS = "= <> < > <= >= || + - * % -> ->> ? ?|".split(" ");

/** All SQL of this store. */
function allSql(): string {
  const { plainCharge, ...statements } = createStatements("latchkey");
  const keeps = ["all", "slots"] as const;
  const holds = [null, ...keeps.flatMap((each) => [0, 1].map((uses) => ({ keeps: each, uses })))];
  const plain = holds.map((hold) =>
    plainCharge({
      records: 2,
      limits: ["fixed", "sliding", "token-bucket"],
      hasRefill: true,
      hold,
    }),
  );
  const functions = [RULES, HOLD_RULES, CHARGE, SETTLE, COMMIT, ADD_STATISTICS, VIEWS];
  return [...functions, ...plain, ...Object.values(statements)].join();
}

/** What another role may create in `public` in the hope that latchkey calls it: each of them ends the call that runs it. */
const TRAPS = `
DO $do$ DECLARE
  name text; one text; other text; third text; raising text := 'LANGUAGE plpgsql AS $f$ BEGIN RAISE ''a trap''; END $f$';
BEGIN
  FOREACH one IN ARRAY $types$TYPES$types$::text[] LOOP
    FOREACH other IN ARRAY $types$TYPES$types$::text[] LOOP
      EXECUTE format('CREATE FUNCTION public.trap(%s, %s) RETURNS text %s', one, other, raising);
      FOREACH name IN ARRAY $names$OPERATORS$names$::text[] LOOP
        EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.trap, LEFTARG = %s, RIGHTARG = %s)', name, one, other);
      END LOOP;
    END LOOP;
  END LOOP;
  FOREACH name IN ARRAY $names$FUNCTIONS$names$::text[] LOOP
    FOREACH one IN ARRAY $types$FEW$types$::text[] LOOP
      EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS text %s', name, one, raising);
      FOREACH other IN ARRAY $types$FEW$types$::text[] LOOP
        EXECUTE format('CREATE FUNCTION public.%I(%s, %s) RETURNS text %s', name, one, other, raising);
        FOREACH third IN ARRAY $types$THREE$types$::text[] LOOP
          EXECUTE format('CREATE FUNCTION public.%I(%s, %s, %s) RETURNS text %s', name, one, other, third, raising);
        END LOOP;
      END LOOP;
    END LOOP;
  END LOOP;
END $do$`;

describeWithServers("another role that may create in the schema public", () => {
  let server: TestServer;
  let admin: pg.Pool;
  let app: pg.Pool;

  beforeAll(async () => {
    server = await startServer({ fsync: "off", max_locks_per_transaction: "1024" });
    admin = new pg.Pool({ connectionString: server.url });
    await admin.query(
      "CREATE ROLE app LOGIN; CREATE ROLE mallory LOGIN; GRANT CREATE ON DATABASE postgres TO app; GRANT CREATE ON SCHEMA public TO mallory",
    );
    app = new pg.Pool({ connectionString: server.url.replace("postgres@", "app@") });
    const names = await admin.query(
      "SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND position(proname || '(' in $1) > 0",
      [allSql()],
    );
    const functions = names.rows.map(({ proname }) => proname as string);
    expect(functions).toEqual(expect.arrayContaining(["concat_ws", "jsonb_build_object", "count"]));
    const list = (items: readonly string[]) => `{${items.map((item) => `"${item}"`).join(",")}}`;
    const traps = TRAPS.replaceAll("TYPES", list(MORE_TYPES))
      .replaceAll("OPERATORS", list(OPERATORS))
      .replaceAll("FUNCTIONS", list(functions))
      .replaceAll("FEW", list(TYPES))
      .replaceAll("THREE", list(["text", "bigint", "jsonb"]));
    await admin.query(`SET ROLE mallory; ${traps}; RESET ROLE`);
  });
  afterAll(async () => {
    await app.end();
    await admin.end();
    await server.remove();
  });

  const functionsOf = async (schema: string) => {
    const { rows } = await admin.query(
      "SELECT proname AS name, proconfig::text LIKE '%search_path=pg_catalog, pg_temp%' OR prosqlbody IS NOT NULL AS fixed FROM pg_proc WHERE pronamespace = $1::regnamespace",
      [schema],
    );
    return rows as readonly { readonly name: string; readonly fixed: boolean | null }[];
  };

  test.each([true, false])(
    "cannot make the store run functions and operators that it creates there (prepared statements: %s)",
    async (preparedStatements) => {
      const schema = `app_${preparedStatements}`;
      const store = postgresStore(app, { schema, preparedStatements });
      const latchkey = createLatchkey({ store, usage: { flushMs: 1 } as never });
      const { apiId } = await latchkey.createApi({ name: "payments" });
      await latchkey.createRole({ name: "admin" });
      const { key, keyId } = await latchkey.createKey({
        apiId,
        externalId: "user",
        remaining: 100,
        refill: { interval: "daily", amount: 100 },
        ratelimits: [
          { name: "a", limit: 50, duration: 60_000, autoApply: true },
          { name: "b", limit: 50, duration: 60_000, autoApply: true },
        ],
        roles: ["admin"],
      });
      const plain = await latchkey.createKey({ apiId, remaining: 5 });
      for (let time = 0; time < 3; time += 1) {
        expect(await latchkey.verifyKey({ key: plain.key })).toMatchObject({ valid: true });
        const results = await Promise.all(
          ["", "r"].map((name) =>
            latchkey.verifyKey({ key, ...(name && { requestId: `${name}${time}` }) }),
          ),
        );
        for (const each of results) expect(each).toMatchObject({ valid: true });
      }
      await latchkey
        .limit({ namespace: "n", identifier: "i", limit: 5, duration: 60_000 } as never)
        .catch(() => undefined);
      for (const each of [key, plain.key])
        for (const remaining of [{ cost: 0 }, { cost: 2 }]) {
          const verdict = await latchkey.reserve({ key: each, remaining: { cost: 1 } });
          if (verdict.code !== "VALID") throw new Error(verdict.code);
          const { reservationId } = verdict;
          await latchkey.renew({ reservationId, ttl: 5_000 });
          await latchkey.settle({ reservationId, remaining }).catch(() => undefined);
          await latchkey.release({ reservationId }).catch(() => undefined);
        }
      expect((await latchkey.listReservations({ keyId })).reservations).toEqual([]);
      await latchkey.updateKey({ keyId, name: "renamed" });
      await latchkey.updateRemaining({ keyId, op: "increment", value: 3 });
      expect((await latchkey.listKeys({ apiId })).total).toBe(2);
      await latchkey.deleteKey({ keyId });
      const at = { subject: { kind: "api", id: apiId }, startAt: 0, endAt: 1 } as const;
      await store.readStatistics("ws_default", at);
      await store.deleteStatistics("ws_default", 0, 5);
      for (const id of [null, "ws_default"]) await store.scan(id, null);
      expect(await store.readClock?.()).toBeGreaterThan(0);
      await latchkey.close();
      await app.query(`SELECT * FROM ${schema}.keys, ${schema}.audit`);
      for (const each of await functionsOf(schema)) expect(each).toMatchObject({ fixed: true });
    },
  );

  test("no longer affects functions of an earlier version once they are replaced", async () => {
    const schema = "earlier";
    await postgresStore(app, { schema }).read("ws_default", []);
    await app.query(`ALTER FUNCTION ${schema}.lock_names(text, text[]) RESET search_path`);
    await app.query(`UPDATE ${schema}.schema_version SET version = 2`);
    await postgresStore(app, { schema }).read("ws_default", []);
    for (const each of await functionsOf(schema)) expect(each).toMatchObject({ fixed: true });
  });
});
