import { createLatchkey, type Latchkey } from "@latchkey/core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { redisStore } from "./index.js";
import { errorOf, untilAnswered } from "./testing/errors.js";
import { PATIENT, startServer, type TestServer } from "./testing/redis-server.js";
import { promote, untilFollowed } from "./testing/replication.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("a store that waits for replicas", () => {
  let primary: TestServer;
  let replica: TestServer;

  beforeAll(async () => {
    primary = await startServer();
    replica = await startServer({ replicaof: `127.0.0.1 ${primary.port}` });
  });
  afterAll(async () => {
    await replica.remove();
    await primary.remove();
  });

  /** Two stores: one waits until the replica holds a write, however long that takes, and one soon gives up. */
  function openBoth() {
    const [patient, hasty] = [60_000, 100].map((timeoutMs) => {
      const store = redisStore(primary.url, { ...PATIENT, waitReplicas: { count: 1, timeoutMs } });
      onTestFinished(() => store.close());
      return createLatchkey({ store });
    });
    return [patient, hasty] as [Latchkey, Latchkey];
  }

  test("answers a write once the replica holds it, and leaves its outcome unknown when the replica is gone", async () => {
    const [patient, hasty] = openBoth();
    const { apiId } = await untilAnswered(() => patient.createApi({ name: "payments" }));
    const { key, keyId } = await patient.createKey({ apiId, remaining: 10 });
    expect(await patient.verifyKey({ key })).toMatchObject({ valid: true, remaining: 9 });

    await replica.stop();
    const unknown = { code: "STORE_UNAVAILABLE", outcome: "unknown" };
    expect(await errorOf(hasty.verifyKey({ key }))).toMatchObject(unknown);
    // The use stays taken although no caller was admitted, which is the safe side.
    expect((await hasty.getKey({ keyId })).remaining).toBe(8);
    await replica.start();
  });

  test("answers nothing that rests on a write which no replica holds, even if there is nothing left to write", async () => {
    const [patient, latchkey, other] = [...openBoth(), openBoth()[1]];
    const { apiId } = await untilAnswered(() => patient.createApi({ name: "payments" }));
    const { key, keyId } = await patient.createKey({ apiId, remaining: 10 });
    const { keyId: deleted } = await patient.createKey({ apiId });
    const { key: leaked } = await patient.createKey({ apiId });
    const verdict = await patient.reserve({ key, remaining: { cost: 5 } });
    const reservationId = verdict.valid ? verdict.reservationId : "";
    const calls = [latchkey, other].flatMap((each) => [
      () => each.settle({ reservationId, remaining: { cost: 2 } }),
      () => each.settle({ reservationId, remaining: { cost: 2 } }),
      () => each.updateKey({ keyId, name: "known" }),
      () => each.verifyKey({ key, requestId: "one" }),
      () => each.deleteKey({ keyId: deleted }),
      () => each.deleteKey({ keyId: deleted }),
      () => each.setWorkspaceEnabled(true),
      () => each.reportLeaks({ leaks: [{ key: leaked }] }),
    ]);

    await replica.stop();
    const unknown = { code: "STORE_UNAVAILABLE", outcome: "unknown" };
    for (const call of [...calls, ...calls]) expect(await errorOf(call())).toMatchObject(unknown);

    await replica.start();
    await untilAnswered(() => patient.updateKey({ keyId, name: "known" }));
    const gone = await errorOf(patient.deleteKey({ keyId: deleted }));
    expect(gone).toMatchObject({ code: "NOT_FOUND" });
    // The stores whose calls had the outcome unknown may not wait long enough: their calls are repeated.
    const repeated = () => other.verifyKey({ key, requestId: "one" });
    // A settlement by another process looks for the reservation first, and not even that was answered: 5 are still reserved.
    expect(await untilAnswered(repeated)).toMatchObject({ remaining: 4 });
    const settling = () => other.settle({ reservationId, remaining: { cost: 2 } });
    const settled = { remaining: 7, taken: { uses: 2 } };
    expect(await untilAnswered(settling)).toMatchObject(settled);
  });
});

describeWithServers("one of two replicas is promoted while the old primary continues", () => {
  test.each([
    { count: 1, loses: "a revocation that has resolved" },
    { count: 2, loses: "nothing that has resolved" },
  ])("a store that waits for $count loses $loses", async ({ count }) => {
    const primary = await startServer();
    onTestFinished(() => primary.remove());
    const following = { replicaof: `127.0.0.1 ${primary.port}` };
    const promoted = await startServer(following);
    onTestFinished(() => promoted.remove());
    const other = await startServer(following);
    onTestFinished(() => other.remove());
    await untilFollowed(primary, 2);
    const open = (url: string, timeoutMs: number, replicas: number) => {
      const waitReplicas = { count: replicas, timeoutMs };
      const store = redisStore(url, { ...PATIENT, ...(replicas > 0 && { waitReplicas }) });
      onTestFinished(() => store.close());
      return createLatchkey({ store });
    };
    const patient = open(primary.url, 60_000, count);
    const { apiId } = await untilAnswered(() => patient.createApi({ name: "payments" }));
    const { key, keyId } = await patient.createKey({ apiId });
    await untilFollowed(primary, 2);

    // As Sentinel does with a primary that stood still: it is told last.
    await promote(promoted);
    const latchkey = count === 1 ? patient : open(primary.url, 100, count);
    const outcome = await latchkey.deleteKey({ keyId }).then(
      () => "resolved",
      (error) => error.outcome,
    );
    expect(outcome).toBe(count === 1 ? "resolved" : "unknown");
    // The key works again on the new primary: only callers that were told "unknown" repeat the call there.
    expect(await open(promoted.url, 0, 0).verifyKey({ key })).toMatchObject({ valid: true });
  });
});
