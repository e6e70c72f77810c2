import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { until } from "./errors.js";
import { freePort, serverProgram } from "./redis-server.js";

/** A Redis Sentinel for tests, which decides alone. */
export interface TestSentinel {
  readonly port: number;
  /** Waits until it knows this many replicas that it could promote. */
  readonly untilItKnows: (replicas: number) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** Starts a Sentinel that watches a primary under a name, and replaces it half a second after its last answer. */
export async function startSentinel(name: string, primaryPort: number): Promise<TestSentinel> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), "latchkey-sentinel-"));
  const configuration = join(directory, "sentinel.conf");
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${directory}`,
    `sentinel monitor ${name} 127.0.0.1 ${primaryPort} 1`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 3000`,
  ];
  writeFileSync(configuration, `${lines.join("\n")}\n`);
  const program = serverProgram() ?? "redis-server";
  const child = spawn(program, [configuration, "--sentinel"], { stdio: "ignore" });
  const killChild = () => child.kill("SIGKILL");
  process.once("exit", killChild);
  const control = new Redis({ host: "127.0.0.1", port, retryStrategy: () => 20 });
  control.on("error", () => undefined);
  await control.ping();
  return {
    port,
    untilItKnows: (replicas) =>
      until(async () => {
        const info = await control.info("sentinel");
        return info.includes(`slaves=${replicas},`) && info.includes("status=ok");
      }, 20_000),
    remove: async () => {
      control.disconnect();
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
      process.off("exit", killChild);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
