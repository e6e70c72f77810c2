import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createLatchkey } from "@latchkey/core";
import pg from "pg";
import { expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { PATIENT, startServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

// STEPS=100000 npx vitest run --config vitest.workspace.ts --project drills postgres/src/races --reporter=verbose
const STEPS = Number(process.env.STEPS ?? 1_000);
const PROCESSES = 4;
const WORKER = fileURLToPath(new URL("../dist/testing/racer.worker.js", import.meta.url));
const USES = 1_000_000;

describeWithServers("four processes that verify and change the same keys", () => {
  test("never wait for each other in a circle, and take exactly what they say", {
    timeout: 1_800_000,
  }, async () => {
    const server = await startServer({ fsync: "off", deadlock_timeout: "50ms" });
    const store = postgresStore(server.url, PATIENT);
    const latchkey = createLatchkey({ store });
    try {
      const { apiId } = await latchkey.createApi({ name: "payments" });
      const limit = { limit: USES, duration: 60_000 };
      const owners = ["one", "other"];
      for (const externalId of owners)
        await latchkey.createIdentity({
          externalId,
          remaining: USES,
          ratelimits: [{ name: "shared", ...limit }],
        });
      const keys: { key: string; keyId: string; owner: string }[] = [];
      for (let number = 0; number < 6; number += 1) {
        const owner = owners[number % 2] ?? "";
        const { key, keyId } = await latchkey.createKey({
          apiId,
          externalId: owner,
          ...(number % 3 === 2 ? { usesFrom: "identity" } : { remaining: USES }),
          ratelimits: [
            { name: "own", ...limit, autoApply: true },
            { name: "shared", ...limit, autoApply: true },
          ],
        });
        keys.push({ key, keyId, owner });
      }
      const steps = STEPS / PROCESSES;
      const race = (seed: number) => answerOf(server.url, { apiId, keys, steps, seed });
      const answers = await Promise.all(
        Array.from({ length: PROCESSES }, (_, index) => race(index + 1)),
      );

      expect(answers.map(({ wrong }) => wrong)).toEqual(answers.map(() => ({})));
      const { remaining } = await latchkey.getKey({ keyId: keys[0]?.keyId ?? "" });
      const taken = answers.reduce((sum, answer) => sum + answer.taken, 0);
      expect(USES - Number(remaining)).toBe(taken);
      expect(taken).toBeGreaterThan(0);
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      const { rows } = await client.query(
        "SELECT sum(deadlocks)::int AS deadlocks FROM pg_stat_database",
      );
      await client.end();
      console.info({ steps: STEPS, taken, ...rows[0] });
      expect(rows).toEqual([{ deadlocks: 0 }]);
    } finally {
      await store.close();
      await server.remove();
    }
  });
});

interface Answer {
  readonly taken: number;
  readonly wrong: object;
}

async function answerOf(url: string, given: object): Promise<Answer> {
  const worker = spawn(process.execPath, [WORKER, url, JSON.stringify(given)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const part of worker.stdout) text += part;
  return JSON.parse(text) as Answer;
}
