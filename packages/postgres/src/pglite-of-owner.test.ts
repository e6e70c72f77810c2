import { PGlite } from "@electric-sql/pglite";
import { aChange, aMoment, aPlan, aRecord, usesOf, WORKSPACE } from "@latchkey/conformance";
import { expect, onTestFinished, test } from "vitest";
import { postgresStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { PATIENT } from "./testing/postgres-server.js";

/** A PGlite with parsers and serializers of the application, and a store on it that has a key with ten uses. */
async function open() {
  const shout = (text: string) => text.toUpperCase();
  const pglite = new PGlite({ parsers: { 25: shout }, serializers: { 25: shout } });
  onTestFinished(() => pglite.close());
  const store = postgresStore(pglite, PATIENT);
  const puts = [{ record: aRecord("key", 1), counters: { usage: usesOf(10) } }];
  await store.commit(WORKSPACE, aChange({ puts }));
  expect(await store.charge(aPlan(), aMoment())).toMatchObject({ kind: "charged", remaining: 9 });
  return { pglite, store };
}

test("inside a transaction that the owner of a PGlite began with SQL, no call is answered and then undone", async () => {
  const { pglite, store } = await open();
  await pglite.exec("BEGIN");
  for (const call of [
    store.charge(aPlan(), aMoment()),
    store.read(WORKSPACE, []),
    store.commit(WORKSPACE, aChange({ revision: 1 })),
  ]) {
    const error = await errorOf(call);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
    expect(error.message).toContain("inside a transaction");
  }
  await pglite.exec("ROLLBACK");
  expect(await store.charge(aPlan(), aMoment())).toMatchObject({ kind: "charged", remaining: 8 });
});

test("a call waits for the end of transaction() of a PGlite, and is no part of it", async () => {
  const { pglite, store } = await open();
  let charging: unknown;
  await pglite.transaction(async (transaction) => {
    await transaction.query("SELECT 1");
    charging = store.charge(aPlan(), aMoment());
    await new Promise((resolve) => setTimeout(resolve, 20));
    await transaction.rollback();
  });
  expect(await charging).toMatchObject({ kind: "charged", remaining: 8 });
  expect(await store.charge(aPlan(), aMoment())).toMatchObject({ kind: "charged", remaining: 7 });
});
