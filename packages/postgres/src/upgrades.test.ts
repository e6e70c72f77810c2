import { aChange, WORKSPACE } from "@latchkey/conformance";
import { expect, test } from "vitest";
import { migrate, postgresStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { duringTransaction } from "./testing/open-transaction.js";
import { ownServer } from "./testing/own-server.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("tables of an earlier version, and damaged ones", () => {
  const own = ownServer();

  const versionOf = async (schema: string) =>
    (await own.pool.query(`SELECT version FROM ${schema}.schema_version`)).rows[0].version;

  /** Tables that count as those of an earlier version. */
  async function makeOlder(schema: string, version: number): Promise<void> {
    await migrate(own.pool, { schema });
    await own.pool.query(`ALTER TABLE ${schema}.schema_version REPLICA IDENTITY DEFAULT;
      UPDATE ${schema}.schema_version SET version = ${version}`);
  }

  test.each([5, 12])(
    "an update from version %i lets others use the tables while a dump holds locks on them, and goes on afterwards",
    async (version) => {
      const schema = `dumped_${version}`;
      await makeOlder(schema, version);
      const tables = `${schema}.list, ${schema}.schema_version`;
      let updating: Promise<void> | undefined;
      await duringTransaction(
        own.server.url,
        `LOCK TABLE ${tables} IN ACCESS SHARE MODE`,
        async () => {
          updating = migrate(own.pool, { schema });
          const waiting = `SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted
          AND relation IN ('${schema}.list'::regclass, '${schema}.schema_version'::regclass)`;
          await expect
            .poll(async () => (await own.pool.query(waiting)).rowCount, { timeout: 5_000 })
            .toBe(1);
          await own.pool.query(
            `SET statement_timeout = '3s'; SELECT FROM ${tables}; RESET statement_timeout`,
          );
          expect(await versionOf(schema)).toBe(version);
        },
      );
      await updating;
      expect(await versionOf(schema)).toBeGreaterThan(version);
    },
  );

  test("a call that is over while it waits for an update leaves nobody in the server who waits", async () => {
    const schema = "given_up";
    await makeOlder(schema, 12);
    await duringTransaction(
      own.server.url,
      "SELECT pg_advisory_xact_lock(1818326891, 0)",
      async () => {
        const store = postgresStore(own.server.url, { schema, timeoutMs: 500 });
        const error = await errorOf(store.read(WORKSPACE, []));
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
        const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
        await expect.poll(async () => (await own.pool.query(waiting)).rowCount).toBe(0);
        await store.close();
      },
    );
  });

  test("a lock that is never free is named", async () => {
    const schema = "locked";
    await makeOlder(schema, 5);
    await duringTransaction(
      own.server.url,
      `LOCK TABLE ${schema}.list IN ACCESS SHARE MODE`,
      async () => {
        const store = postgresStore(own.pool, { schema, timeoutMs: 1_400 });
        const error = await errorOf(store.read(WORKSPACE, []));
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
        expect(error.message).toContain("pg_dump");
      },
    );
  });

  test("functions that are missing are named, and migrate creates them", async () => {
    const schema = "tables_alone";
    await migrate(own.pool, { schema });
    await own.pool.query(
      `DROP TYPE ${schema}.plan, ${schema}.hold_step CASCADE; DROP FUNCTION ${schema}.commit`,
    );
    const error = await errorOf(
      postgresStore(own.pool, { schema, migrate: false }).read(WORKSPACE, []),
    );
    expect(error.code).toBe("PRECONDITION_FAILED");
    expect(error.message).toMatch(
      /functions of latchkey are missing.*charge.* 1 more. Call migrate/,
    );
    await migrate(own.pool, { schema });
    const store = postgresStore(own.pool, { schema, migrate: false });
    expect(await store.commit(WORKSPACE, aChange({ revision: 7 }))).toMatchObject({
      kind: "committed",
    });
  });

  test.each([true, false])(
    "a process that starts while another one updates the tables finds them updated, and changes nothing (migrate: %s)",
    async (isMigrating) => {
      const schema = `beside_${isMigrating}`;
      await makeOlder(schema, 12);
      const typeOf = async () =>
        (await own.pool.query(`SELECT '${schema}.plan'::regtype::oid`)).rows[0].oid;
      const type = await typeOf();
      const rename = (object: string, from: string, to: string) =>
        `ALTER ${object} ${schema}.${from} RENAME TO ${to};`;
      await own.pool.query(rename("FUNCTION", "commit", "c") + rename("TABLE", "hold", "h"));
      const updating = await own.pool.connect();
      await updating.query(`BEGIN; ${rename("FUNCTION", "c", "commit")} ${rename("TABLE", "h", "hold")}
        LOCK TABLE ${schema}.schema_version IN ACCESS EXCLUSIVE MODE;
        UPDATE ${schema}.schema_version SET version = 13`);
      const store = postgresStore(own.server.url, { schema, migrate: isMigrating });
      const reading = store.read(WORKSPACE, []);
      const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '${schema}.schema_version'::regclass`;
      await expect.poll(async () => (await own.pool.query(waiting)).rowCount).toBe(1);
      await updating.query("COMMIT");
      updating.release();
      expect(await reading).toMatchObject({ revision: 0 });
      expect(await typeOf()).toBe(type);
      await store.close();
    },
  );

  test("functions that another process has created meanwhile are not created again", async () => {
    const schema = "created_once";
    await migrate(own.pool, { schema });
    const rename = (from: string, to: string) => `ALTER FUNCTION ${schema}.${from} RENAME TO ${to}`;
    await own.pool.query(rename("commit", "c"));
    const { rows } = await own.pool.query(`SELECT '${schema}.plan'::regtype::oid`);
    const creating = await own.pool.connect();
    await creating.query(
      `BEGIN; SELECT pg_advisory_xact_lock(1818326891, 0); ${rename("c", "commit")}`,
    );
    const store = postgresStore(own.server.url, { schema });
    const reading = store.read(WORKSPACE, []);
    const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await expect.poll(async () => (await own.pool.query(waiting)).rowCount).toBe(1);
    await creating.query("COMMIT");
    creating.release();
    expect(await reading).toMatchObject({ revision: 0 });
    expect((await own.pool.query(`SELECT '${schema}.plan'::regtype::oid`)).rows).toEqual(rows);
    await store.close();
  });

  test("tables that are missing are named, and nothing is put in their place", async () => {
    const schema = "half";
    await migrate(own.pool, { schema });
    await own.pool.query(`DROP TABLE ${schema}.passing, ${schema}.hold CASCADE`);
    for (const call of [
      () => postgresStore(own.pool, { schema }).read(WORKSPACE, []),
      () => migrate(own.pool, { schema }),
    ]) {
      const error = await errorOf(call());
      expect(error.code).toBe("STORE_CORRUPT");
      expect(error.message).toContain("hold, passing");
    }
  });

  test("tables without their primary keys, as after a dump that was restored in part, are named", async () => {
    const schema = "unfinished";
    await migrate(own.pool, { schema });
    for (const table of ["claim", "record"])
      await own.pool.query(`ALTER TABLE ${schema}.${table} DROP CONSTRAINT ${table}_pkey`);
    for (const isMigrating of [true, false]) {
      const store = postgresStore(own.pool, { schema, migrate: isMigrating });
      const error = await errorOf(store.read(WORKSPACE, []));
      expect(error.code).toBe("STORE_CORRUPT");
      expect(error.message).toMatch(/primary keys.*: claim, record\. Restore/);
    }
  });

  test.each([
    ["a table", "CREATE TABLE theirs_1.record (id int)"],
    ["a table with the name of a view", "CREATE TABLE theirs_2.keys (id int)"],
    ["a view", "CREATE VIEW theirs_3.audit AS SELECT 1 AS id"],
    ["a type", "CREATE TYPE theirs_4.charge_plan AS (id int)"],
  ])("a schema in which another program has %s is refused", async (_, sql) => {
    const schema = /theirs_\d/.exec(sql)?.[0] ?? "";
    await own.pool.query(`CREATE SCHEMA ${schema}; ${sql}`);
    const error = await errorOf(migrate(own.pool, { schema }));
    expect(error.code).toBe("PRECONDITION_FAILED");
    expect(error.message).toContain("another schema");
  });

  test("a user that does not own the tables of an earlier version is told who has to update them", async () => {
    const schema = "owned";
    await makeOlder(schema, 12);
    await own.pool.query(`CREATE ROLE guest LOGIN; GRANT ALL ON SCHEMA ${schema} TO guest;
      GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO guest`);
    const url = own.server.url.replace("postgres@", "guest@");
    for (const isMigrating of [true, false]) {
      const store = postgresStore(url, { schema, migrate: isMigrating });
      const error = await errorOf(store.read(WORKSPACE, []));
      expect(error.code).toBe("PRECONDITION_FAILED");
      expect(error.message).toMatch(
        /has schema 12 .* call migrate .* the user that owns the tables/,
      );
      await store.close();
    }
  });
});
