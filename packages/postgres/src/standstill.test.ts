import { aChange, aMoment, aPlan, aRecord, usesOf, WORKSPACE } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { PATIENT, startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

const OPTIONS = { chargeTimeoutMs: 300, timeoutMs: 400, maxConnections: 1 };

/** Longer than any call may take. What a stopped process and a frozen container have in common: nothing runs, and clocks go on. */
function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
}

describeWithServers("a process that stands still while it uses PostgreSQL", () => {
  let server: TestServer;
  let patient: KeyStore;
  let store: KeyStore;

  beforeAll(async () => {
    server = await startServer({ fsync: "off" });
    patient = postgresStore(server.url, PATIENT);
  });
  afterAll(async () => {
    await patient?.close();
    await server?.remove();
  });

  beforeEach(async () => {
    const record = aRecord("key", 1);
    await patient.commit(WORKSPACE, aChange({ deletes: [{ kind: "key", id: record.id }] }));
    const puts = [{ record, counters: { usage: usesOf(10) } }];
    await patient.commit(WORKSPACE, aChange({ puts }));
    store = postgresStore(server.url, OPTIONS);
    const connect = () => store.charge(aPlan({ mode: "peek" }), aMoment());
    await expect.poll(connect).toMatchObject({ kind: "charged" });
    return () => store.close();
  });

  test("before a charge is sent takes nothing, and says so", async () => {
    const charged = store.charge(aPlan(), aMoment());
    standStill();
    const refusal = { code: "STORE_UNAVAILABLE", outcome: "not-applied" };
    await expect(charged).rejects.toMatchObject(refusal);
    expect(await patient.charge(aPlan(), aMoment())).toMatchObject({ remaining: 9 });
  });

  test("after a charge was sent gets the answer that came meanwhile", async () => {
    const charged = store.charge(aPlan(), aMoment());
    await new Promise((resolve) => setImmediate(resolve));
    standStill();
    expect(await charged).toMatchObject({ kind: "charged", remaining: 9 });
  });

  test("still gives up a connection that is silent later", async () => {
    const watching = new pg.Client({ connectionString: server.url });
    await watching.connect();
    const own = postgresStore(`${server.url}&application_name=stood-still`, OPTIONS);
    const peek = () => own.charge(aPlan({ mode: "peek" }), aMoment());
    await expect.poll(peek).toMatchObject({ kind: "charged" });
    const charged = peek();
    await new Promise((resolve) => setImmediate(resolve));
    standStill();
    await charged;
    const left = "SELECT FROM pg_stat_activity WHERE application_name = 'stood-still'";
    const connections = async () => (await watching.query(left)).rowCount;
    await expect.poll(connections, { timeout: 5_000 }).toBe(0);
    await own.close();
    await watching.end();
  });
});
