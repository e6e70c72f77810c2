import { aChange, aMoment, aPlan, aRecord, usesOf, WORKSPACE } from "@latchkey/conformance";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { startLink } from "./testing/link.js";
import { PATIENT, startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("a PostgreSQL with an idle_session_timeout", () => {
  let server: TestServer;
  let link: Awaited<ReturnType<typeof startLink>>;

  beforeAll(async () => {
    server = await startServer({ fsync: "off" });
    link = await startLink(server);
  });
  afterAll(async () => {
    await link?.close();
    await server?.remove();
  });

  test("a charge that is sent while the server ends the idle connection goes over another one, once", async () => {
    const watching = new pg.Client({ connectionString: server.url });
    await watching.connect();
    const store = postgresStore(`${link.url}&options=-c%20idle_session_timeout%3D1000`, {
      ...PATIENT,
      maxConnections: 1,
    });
    const puts = [{ record: aRecord("key", 1), counters: { usage: usesOf(10) } }];
    await store.commit(WORKSPACE, aChange({ puts }));

    // Whatever is sent from here on reaches the server after it has said goodbye.
    link.stall();
    const charged = store.charge(aPlan(), aMoment());
    const left = "SELECT FROM pg_stat_activity WHERE application_name = 'latchkey'";
    while ((await watching.query(left)).rowCount !== 0);
    link.heal();

    expect(await charged).toMatchObject({ kind: "charged", remaining: 9 });
    await store.close();
    await watching.end();
  });
});
