import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { redisStore } from "./index.js";
import { PATIENT, startServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const GRANTED = 20_000;
const WORKER = fileURLToPath(new URL("../dist/testing/spender.worker.js", import.meta.url));

describeWithServers("several processes on one server", () => {
  test("admit no more than was granted, and lose only uses that a killed process had under way", async () => {
    const server = await startServer();
    const store = redisStore(server.url, PATIENT);
    try {
      const latchkey = createLatchkey({ store });
      const { apiId } = await latchkey.createApi({ name: "payments" });
      const { key, keyId } = await latchkey.createKey({ apiId, remaining: GRANTED });
      const admitted: number[] = [];
      const start = () => startWorker([server.url, key], admitted);
      const workers = [start(), start()];
      const KILLS = 4;
      for (let kill = 1; kill <= KILLS; kill += 1) {
        const threshold = (kill * GRANTED) / (KILLS + 2);
        while (admitted.length < threshold) await new Promise((resolve) => setTimeout(resolve, 10));
        workers.shift()?.kill("SIGKILL");
        workers.push(start());
      }
      const endings = await Promise.all(workers.map((worker) => once(worker, "close")));
      expect(endings).toEqual(workers.map(() => [0, null]));

      expect((await latchkey.getKey({ keyId })).remaining).toBe(0);
      expect(new Set(admitted).size).toBe(admitted.length);
      expect(admitted.length).toBeLessThanOrEqual(GRANTED);
      // Each killed process had at most eight under way.
      expect(admitted.length).toBeGreaterThanOrEqual(GRANTED - KILLS * 8);
    } finally {
      await store.close();
      await server.remove();
    }
  });
});

function startWorker(args: readonly string[], admitted: number[]): ChildProcess {
  const child = spawn(process.execPath, [WORKER, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    admitted.push(...lines.map(Number));
  });
  return child;
}
