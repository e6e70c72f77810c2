import { createServer, type Socket } from "node:net";
import { aChange, aMoment, aPlan, aRecord, usesOf, WORKSPACE } from "@latchkey/conformance";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { migrate, postgresStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { PATIENT, startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

const PUTS = [{ record: aRecord("key", 1), counters: { usage: usesOf(10) } }];

describeWithServers("a database and a pool that the application uses as well", () => {
  let server: TestServer;
  let admin: pg.Pool;

  beforeAll(async () => {
    server = await startServer({ fsync: "off", jit: "off" });
    admin = new pg.Pool({ connectionString: server.url });
  });
  afterAll(async () => {
    await admin?.end();
    await server?.remove();
  });

  /** A pool on a database of its own. */
  async function openPool(name: string, options: pg.PoolConfig = {}): Promise<pg.Pool> {
    await admin.query(`CREATE DATABASE ${name}`);
    return connect(name, options);
  }

  function connect(database: string, options: pg.PoolConfig = {}): pg.Pool {
    const pool = new pg.Pool({ host: server.folder, user: "postgres", database, ...options });
    pool.on("error", () => undefined);
    onTestFinished(() => pool.end());
    return pool;
  }

  test("tables are made and updated beside a publication of all tables", async () => {
    const pool = await openPool("published");
    await pool.query("CREATE PUBLICATION everything FOR ALL TABLES");
    await migrate(pool);
    const [{ version }] = (await pool.query("SELECT version FROM latchkey.schema_version")).rows;
    await pool.query("DROP PUBLICATION everything");
    await pool.query(`UPDATE latchkey.schema_version SET version = ${version - 1};
      ALTER TABLE latchkey.schema_version REPLICA IDENTITY DEFAULT;
      CREATE PUBLICATION everything FOR ALL TABLES`);
    await migrate(connect("published"));
    expect((await pool.query("SELECT version FROM latchkey.schema_version")).rows).toEqual([
      { version },
    ]);
  });

  test.each([
    ["for all of the process", {}],
    ["for the pool", { types: { getTypeParser: () => JSON.stringify } as never }],
  ])("parsers of text that the application has set %s change no answer", async (_what, options) => {
    const pool = await openPool(`parsers_${Object.keys(options).length}`, options);
    const parsed = pg.types.getTypeParser(25);
    pg.types.setTypeParser(25, (text) => ({ text }) as never);
    onTestFinished(() => pg.types.setTypeParser(25, parsed));
    const store = postgresStore(pool, PATIENT);
    await store.commit(WORKSPACE, aChange({ puts: PUTS }));
    expect(await store.charge(aPlan(), aMoment())).toMatchObject({ kind: "charged", remaining: 9 });
  });

  test("a charge never becomes part of a transaction that was left open on a connection", async () => {
    const pool = await openPool("left_open", { max: 1 });
    const store = postgresStore(pool, PATIENT);
    await store.commit(WORKSPACE, aChange({ puts: PUTS }));
    for (const [sql, ends] of [
      ["BEGIN", "ROLLBACK"],
      ["BEGIN; SELECT 1 / 0", "ROLLBACK"],
    ] as const) {
      const client = await pool.connect();
      await client.query(sql).catch(() => undefined);
      client.release();
      const error = await errorOf(store.charge(aPlan(), aMoment()));
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
      expect(error.message).toContain("inside a transaction");
      await pool.query(ends);
    }
    expect(await store.charge(aPlan(), aMoment())).toMatchObject({ remaining: 9 });
  });

  test("prepared statements that the application has dropped are named, and the next call uses new ones", async () => {
    const pool = await openPool("dropped", { max: 1 });
    const store = postgresStore(pool, PATIENT);
    await store.commit(WORKSPACE, aChange({ puts: PUTS }));
    await pool.query("DISCARD ALL");
    const error = await errorOf(store.commit(WORKSPACE, aChange()));
    expect(error.code).toBe("PRECONDITION_FAILED");
    expect(error.message).toContain("DISCARD");
    await store.commit(WORKSPACE, aChange());
  });

  test("a pool whose connections are all in use is named", async () => {
    const pool = await openPool("in_use", { max: 1 });
    const taken = await pool.connect();
    const error = await errorOf(postgresStore(pool, { timeoutMs: 50 }).read(WORKSPACE, []));
    taken.release();
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
    expect(error.message).toContain("all connections of the pool are in use");
  });

  test("sequences that a copy of the tables left behind are named, and can be set", async () => {
    const pool = await openPool("copied");
    const store = postgresStore(pool, PATIENT);
    const enters = [{ list: "keys", id: "key_1" }];
    await store.commit(WORKSPACE, aChange({ puts: PUTS, enters }));
    const tables = ["workspace", "counters", "list"];
    const set = (to: string, isUsed: boolean) =>
      Promise.all(
        tables.map((table) =>
          pool.query(
            `SELECT setval(pg_get_serial_sequence('latchkey.${table}', 'seq'), ${to}, ${isUsed}) FROM latchkey.${table}`,
          ),
        ),
      );
    await set("1", false);
    const puts = [{ record: aRecord("key", 2), counters: { usage: usesOf(10) } }];
    for (const id of [WORKSPACE, "ws_other"]) {
      const error = await errorOf(store.commit(id, aChange({ puts })));
      expect(error.code).toBe("STORE_CORRUPT");
      expect(error.message).toContain("set the sequences");
    }
    await set("max(seq)", true);
    for (const id of [WORKSPACE, "ws_other"])
      expect((await store.commit(id, aChange({ puts }))).kind).toBe("committed");
  });

  test("row level security that hides the tables from the role is refused by name, and a policy lifts the refusal", async () => {
    const pool = await openPool("secured");
    await migrate(pool);
    await pool.query(`CREATE ROLE app LOGIN; GRANT USAGE ON SCHEMA latchkey TO app;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA latchkey TO app;
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA latchkey TO app;
      ALTER TABLE latchkey.record ENABLE ROW LEVEL SECURITY`);
    const open = () => postgresStore(connect("secured", { user: "app" }), PATIENT);
    const error = await errorOf(open().read(WORKSPACE, []));
    expect(error.code).toBe("PRECONDITION_FAILED");
    expect(error.message).toContain("row level security");
    expect(error.message).toContain("record");
    await postgresStore(pool, PATIENT).read(WORKSPACE, []);
    await pool.query("CREATE POLICY all_of_app ON latchkey.record TO app USING (true)");
    const store = open();
    await store.commit(WORKSPACE, aChange({ puts: PUTS }));
    expect(await store.charge(aPlan(), aMoment())).toMatchObject({ remaining: 9 });
  });
});

test("a server that ends a connection as it opens ends no process", async () => {
  const message = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(4 + body.length);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const farewell = "SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0";
  const greeting = Buffer.concat([
    message("R", Buffer.alloc(4)),
    message("Z", Buffer.from("I")),
    message("E", Buffer.from(farewell)),
  ]);
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.once("data", () => socket.end(greeting)).on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const pool = new pg.Pool({ host: "127.0.0.1", port, user: "postgres" });
  pool.on("error", () => undefined);
  expect(await errorOf(postgresStore(pool).read(WORKSPACE, []))).toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "not-applied",
  });
  await pool.end();
  for (const socket of sockets) socket.destroy();
  server.close();
});
