import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { startServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

// CALLS=500 npx vitest run --config vitest.workspace.ts --project drills postgres/src/hot-key --reporter=verbose
const CALLS = Number(process.env.CALLS ?? 20);
const CONNECTIONS = 32;
const USES = 1_000_000;

describeWithServers(`${CONNECTIONS} connections that verify one key`, () => {
  test("take what they say, while another connection verifies another key", {
    timeout: 600_000,
  }, async () => {
    const server = await startServer();
    const clients = Array.from({ length: CONNECTIONS + 1 }, () =>
      createLatchkey({ store: postgresStore(server.url, { maxConnections: 1 }), usage: false }),
    );
    const [another, ...many] = clients as [(typeof clients)[0], ...typeof clients];
    try {
      const { apiId } = await another.createApi({ name: "payments" });
      const ratelimits = [{ name: "burst", limit: USES, duration: 86_400_000, autoApply: true }];
      const create = () => another.createKey({ apiId, remaining: USES, ratelimits });
      const made = await Promise.all(clients.map(create));
      const [own, hot] = made as [(typeof made)[0], (typeof made)[0]];

      /** How long verifications of one key take, in ms, while each of the others verifies a key again and again. */
      const beside = async (keys: readonly string[]) => {
        let isOver = false;
        let answered = 0;
        const others = keys.map(async (key, place) => {
          while (!isOver) {
            if ((await many[place]?.verifyKey({ key }))?.valid) answered += 1;
          }
        });
        const took: number[] = [];
        for (let call = 0; call < CALLS; call += 1) {
          const from = performance.now();
          await another.verifyKey({ key: own.key });
          took.push(performance.now() - from);
        }
        isOver = true;
        await Promise.all(others);
        took.sort((one, other) => one - other);
        const at = (share: number) => Number(took[Math.floor(share * CALLS)]?.toFixed(1));
        return { median: at(0.5), p99: at(0.99), answered };
      };
      const nobody = await beside([]);
      const ownKeys = await beside(many.map((_, place) => made[place + 1]?.key ?? ""));
      const { remaining: before } = await another.getKey({ keyId: hot.keyId });
      const oneKey = await beside(many.map(() => hot.key));
      const { remaining: after } = await another.getKey({ keyId: hot.keyId });

      console.info({ calls: CALLS, nobody, ownKeys, oneKey });
      expect(Number(before) - Number(after)).toBe(oneKey.answered);
      expect(oneKey.answered).toBeGreaterThan(0);
    } finally {
      for (const client of clients) await client.close();
      await server.remove();
    }
  });
});
