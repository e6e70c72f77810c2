import { PGlite } from "@electric-sql/pglite";
import { aChange, aMoment, aPlan, aRecord, usesOf, WORKSPACE } from "@latchkey/conformance";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { postgresStore } from "./index.js";
import { describeContract, type RunSql } from "./testing/contract.js";
import { errorOf } from "./testing/errors.js";
import { PATIENT } from "./testing/postgres-server.js";
import { describeViews } from "./testing/views.js";

const pglite = new PGlite();
afterAll(() => pglite.close());

const run: RunSql = (sql, values = []) => pglite.query(sql, [...values]);

/**
 * PGlite runs the same statements as the server, which runs the whole contract. So PGlite runs only the tests of values in either
 * direction, of its transactions and of its end; with `LATCHKEY_TEST_STORES=all` it runs all of them.
 */
const SECTIONS = [
  "read",
  "page",
  "commit: records",
  "commit: all or nothing",
  "charge: uses and refills",
  "charge: limits",
  "holds: taken",
  "statistics",
  "scan",
  "names and numbers",
  "the model",
  "close",
  "damaged records",
];

describeContract("PGlite", () => [pglite, pglite], run, {
  shareOfSequences: 0.2,
  ...(process.env.LATCHKEY_TEST_STORES !== "all" && { sections: SECTIONS }),
});

describeViews("PGlite", () => pglite, run);

const TEXT = 25;

/** A store, in a schema of its own, that has a key with ten uses. The application has changed how its PGlite reads and writes texts. */
async function openBesideOwner(schema: string) {
  for (const functions of [pglite.parsers, pglite.serializers]) {
    const { [TEXT]: before } = functions;
    functions[TEXT] = (text: string) => text.toUpperCase();
    onTestFinished(() => {
      if (before === undefined) delete functions[TEXT];
      else functions[TEXT] = before;
    });
  }
  const store = postgresStore(pglite, { ...PATIENT, schema });
  const puts = [{ record: aRecord("key", 1), counters: { usage: usesOf(10) } }];
  await store.commit(WORKSPACE, aChange({ puts }));
  expect(await store.charge(aPlan(), aMoment())).toMatchObject({ kind: "charged", remaining: 9 });
  return store;
}

test("inside a transaction that the owner of a PGlite began with SQL, no call is answered and then undone", async () => {
  const store = await openBesideOwner("begun");
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

test("a call waits for the end of transaction() of a PGlite, and is not part of it", async () => {
  const store = await openBesideOwner("waiting");
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
