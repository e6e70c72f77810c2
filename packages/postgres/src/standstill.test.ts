import { aChange, aMoment, aPlan, aRecord, usesOf, WORKSPACE } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
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
});
