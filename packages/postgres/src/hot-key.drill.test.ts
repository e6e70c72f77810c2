import { createLatchkey } from "@latchkey/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { PATIENT, startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

// CALLS=300 CONNECTIONS=32 npx vitest run --config vitest.workspace.ts --project drills postgres/src/hot-key --reporter=verbose
const CALLS = Number(process.env.CALLS ?? 5);
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 6);
const CREATIONS = 64;
const USES = 1_000_000;

/**
 * How long consecutive calls take, in ms, while each of the others is repeated all the time.
 *
 * @param others - Each resolves to whether it did its work.
 */
async function beside(call: () => Promise<unknown>, others: readonly (() => Promise<boolean>)[]) {
  let isOver = false;
  let done = 0;
  const under = others.map(async (other) => {
    do if (await other()) done += 1;
    while (!isOver);
  });
  const took: number[] = [];
  for (let count = 0; count < CALLS; count += 1) {
    const from = performance.now();
    await call();
    took.push(performance.now() - from);
  }
  isOver = true;
  await Promise.all(under);
  took.sort((one, other) => one - other);
  const at = (share: number) => Number(took[Math.floor(share * CALLS)]?.toFixed(1));
  return { median: at(0.5), p99: at(0.99), done };
}

describeWithServers("while others use one key or one workspace", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.remove());

  const open = (maxConnections: number) =>
    createLatchkey({
      store: postgresStore(server.url, { ...PATIENT, maxConnections }),
      usage: false,
    });

  test(`another connection verifies another key, and ${CONNECTIONS} take exactly what they say from one key`, {
    timeout: 600_000,
  }, async () => {
    const clients = Array.from({ length: CONNECTIONS + 1 }, () => open(1));
    const [another, ...many] = clients as [(typeof clients)[0], ...typeof clients];
    const { apiId } = await another.createApi({ name: "payments" });
    const ratelimits = [{ name: "burst", limit: USES, duration: 86_400_000, autoApply: true }];
    const create = () => another.createKey({ apiId, remaining: USES, ratelimits });
    const made = await Promise.all(clients.map(create));
    const [own, hot] = made as [(typeof made)[0], (typeof made)[0]];

    const verify = () => another.verifyKey({ key: own.key });
    const verifying = (keyOf: (index: number) => string) =>
      many.map((client, index) => async () => {
        return (await client.verifyKey({ key: keyOf(index) })).valid;
      });
    const alone = await beside(verify, []);
    const ownKeys = await beside(
      verify,
      verifying((index) => made[index + 1]?.key ?? ""),
    );
    const { remaining: before } = await another.getKey({ keyId: hot.keyId });
    const oneKey = await beside(
      verify,
      verifying(() => hot.key),
    );
    const { remaining: after } = await another.getKey({ keyId: hot.keyId });
    for (const client of clients) await client.close();

    console.info({ calls: CALLS, alone, ownKeys, oneKey });
    expect(Number(before) - Number(after)).toBe(oneKey.done);
    expect(oneKey.done).toBeGreaterThan(0);
  });

  test(`the same ten connections verify a key, and ${CREATIONS} calls at once make keys`, {
    timeout: 600_000,
  }, async () => {
    const latchkey = open(10);
    const { apiId } = await latchkey.createApi({ name: "shop" });
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: USES });
    const verify = () => latchkey.verifyKey({ key });
    const creating = async () => (await latchkey.createKey({ apiId })).key !== "";

    const alone = await beside(verify, []);
    const one = await beside(verify, [creating]);
    const many = await beside(verify, Array(CREATIONS).fill(creating));
    const { remaining } = await latchkey.getKey({ keyId });
    const { total } = await latchkey.listKeys({ apiId, limit: 1 });
    await latchkey.close();

    console.info({ calls: CALLS, alone, one, many });
    expect(remaining).toBe(USES - 3 * CALLS);
    expect(total).toBe(1 + one.done + many.done);
  });
});
