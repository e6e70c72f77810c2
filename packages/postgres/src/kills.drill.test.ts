import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { PATIENT, startServer, type TestServer } from "./testing/postgres-server.js";
import { startStandby } from "./testing/standby.js";
import { describeWithServers } from "./testing/where.js";

// KILLS=30 npx vitest run --config vitest.workspace.ts --project drills postgres/src/kills --reporter=verbose
const { KILLS: asked } = process.env;
const KILLS = Number(asked ?? 2);
const WORKER = fileURLToPath(new URL("../dist/testing/spender.worker.js", import.meta.url));
const USES = 1_000_000;

interface Conditions {
  readonly synchronousCommit: "on" | "remote_write" | "remote_apply" | "local" | "off";
  /** Whether the server has a standby in `synchronous_standby_names`. */
  readonly hasStandby: boolean;
}

const CONDITIONS: readonly Conditions[] = [
  { synchronousCommit: "on", hasStandby: false },
  { synchronousCommit: "off", hasStandby: false },
  { synchronousCommit: "on", hasStandby: true },
  { synchronousCommit: "remote_write", hasStandby: true },
  { synchronousCommit: "remote_apply", hasStandby: true },
  { synchronousCommit: "local", hasStandby: true },
  { synchronousCommit: "off", hasStandby: true },
];
/** Without a number of kills, only the conditions that differ most. */
const DRILLED = asked === undefined ? CONDITIONS.slice(0, 2) : CONDITIONS;

describeWithServers("two processes that verify one key while their server is killed", () => {
  test.each(DRILLED)(
    "synchronous_commit $synchronousCommit, standby $hasStandby: no use is admitted twice unless a crash gave it back; revocations stay",
    async ({ synchronousCommit, hasStandby }) => {
      const server = await startServer({ synchronous_commit: synchronousCommit });
      let standby: TestServer | undefined;
      const store = postgresStore(server.url, PATIENT);
      const latchkey = createLatchkey({ store, usage: false });
      const workers: ChildProcess[] = [];
      /** Uses left, as callers were told. */
      const told: number[] = [];
      let unknown = 0;
      try {
        if (hasStandby) standby = await startStandby(server, true);
        const { apiId } = await latchkey.createApi({ name: "payments" });
        const { key, keyId } = await latchkey.createKey({ apiId, remaining: USES });
        for (let count = 0; count < 2; count += 1) {
          const worker = spawn(process.execPath, [WORKER, server.url, key], {
            stdio: ["ignore", "pipe", "inherit"],
          });
          workers.push(worker);
          let rest = "";
          worker.stdout?.setEncoding("utf8").on("data", (text: string) => {
            const lines = `${rest}${text}`.split("\n");
            rest = lines.pop() ?? "";
            for (const line of lines)
              if (line === "?") unknown += 1;
              else told.push(Number(line.slice(1)));
          });
        }
        const revoked: string[] = [];
        for (let kill = 0; kill < KILLS; kill += 1) {
          await untilMore(told, 50);
          const { key: other, keyId: otherId } = await latchkey.createKey({ apiId });
          await latchkey.deleteKey({ keyId: otherId });
          revoked.push(other);
          await server.crash();
          await server.start();
        }
        await untilMore(told, 50);
        for (const worker of workers) {
          const ended = once(worker, "exit");
          worker.kill("SIGKILL");
          await ended;
        }
        for (const other of revoked)
          expect(await latchkey.verifyKey({ key: other })).toMatchObject({ code: "NOT_FOUND" });
        const { remaining } = await latchkey.getKey({ keyId });
        const taken = USES - Number(remaining);
        const twice = told.length - new Set(told).size;
        const answered = told.length;
        console.info({
          synchronousCommit,
          hasStandby,
          kills: KILLS,
          answered,
          unknown,
          taken,
          twice,
        });
        if (synchronousCommit !== "off") {
          expect(twice).toBe(0);
          expect(taken).toBeGreaterThanOrEqual(told.length);
        }
        // More than was told can only have been taken by calls without an answer, or by those of a killed process.
        expect(taken).toBeLessThanOrEqual(told.length + unknown + 8);
      } finally {
        for (const worker of workers) worker.kill("SIGKILL");
        await store.close();
        await standby?.remove();
        await server.remove();
      }
    },
  );
});

async function untilMore(told: readonly number[], count: number): Promise<void> {
  const wanted = told.length + count;
  while (told.length < wanted) await new Promise((resolve) => setTimeout(resolve, 5));
}
