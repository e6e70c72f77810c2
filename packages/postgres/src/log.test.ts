import { createLatchkey } from "@latchkey/core";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { PATIENT, startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

const LIST = "auditEntry";

describeWithServers("the order of the audit log", () => {
  let server: TestServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startServer({ fsync: "off" });
    pool = new pg.Pool({ connectionString: server.url, max: 4 });
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  /** An entry as a process of the previous schema writes it: with a version of its own. */
  const ofEarlierProcess = (id: string) => {
    const body = JSON.stringify({ format: 1, type: "api.created", at: 1, resourceId: "api_1" });
    return JSON.stringify({
      puts: [{ kind: 9, id, version: 1, link: null, body }],
      enters: [{ list: LIST, owner: "", id }],
    });
  };

  test("V1: a transaction that commits late is before those that waited for it, and hides nothing from a reader", async () => {
    const latchkey = createLatchkey({
      store: postgresStore(server.url, { ...PATIENT, schema: "late" }),
    });
    await latchkey.createApi({ name: "first" });
    const { cursor: after } = await latchkey.readEvents();
    const slow = await pool.connect();
    await slow.query("BEGIN");
    await slow.query("SELECT late.commit($1, $2)", ["ws_default", ofEarlierProcess("evt_late")]);
    const waiting = latchkey.createApi({ name: "waits" });
    expect((await latchkey.readEvents({ after })).events).toEqual([]);
    await slow.query("COMMIT");
    slow.release();
    const { apiId } = await waiting;
    const { events } = await latchkey.readEvents({ after });
    expect(events.map(({ resourceId }) => resourceId)).toEqual(["api_1", apiId]);
    await latchkey.close();
  });

  test("V1: a transaction that is rolled back leaves no gap", async () => {
    const latchkey = createLatchkey({
      store: postgresStore(server.url, { ...PATIENT, schema: "undone" }),
    });
    await latchkey.createApi({ name: "first" });
    const { cursor: after } = await latchkey.readEvents();
    const undone = await pool.connect();
    await undone.query("BEGIN");
    await undone.query("SELECT undone.commit($1, $2)", ["ws_default", ofEarlierProcess("evt_no")]);
    await undone.query("ROLLBACK");
    undone.release();
    const { apiId } = await latchkey.createApi({ name: "second" });
    expect((await latchkey.readEvents({ after })).events).toMatchObject([{ resourceId: apiId }]);
    await latchkey.close();
  });

  test("entries from before there were numbers come first, in the order of their ids", async () => {
    const latchkey = createLatchkey({
      store: postgresStore(server.url, { ...PATIENT, schema: "older" }),
    });
    for (const name of ["one", "two", "three"]) await latchkey.createApi({ name });
    await pool.query("UPDATE older.record SET version = 1 WHERE kind = 9");
    await pool.query("UPDATE older.list SET last = 1");
    const { cursor } = await latchkey.readEvents({ limit: 2 });
    await latchkey.createApi({ name: "four" });
    const { events } = await latchkey.readEvents({ after: cursor });
    const names = events.map(({ changes }) => changes[0]?.after);
    expect(names).toEqual(["three", "four"]);
    await latchkey.close();
  });
});
