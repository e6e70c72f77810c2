import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";

/** Options of the command line of `redis-server`, without the dashes. */
export type ServerOptions = Readonly<Record<string, string>>;

/** Options of a client that `redisStore` accepts. */
export const NEVER_TWICE = {
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  retryStrategy: () => 20,
} as const;

/** For tests that are not about time: on a machine that stalls for a while answers are late, and that is no failure. */
export const PATIENT = {
  commandTimeoutMs: 60_000,
  configTimeoutMs: 60_000,
  connectTimeoutMs: 60_000,
} as const;

/** Settings with which a server is fit to hold keys. */
const FIT: ServerOptions = {
  appendonly: "yes",
  appendfsync: "everysec",
  "maxmemory-policy": "noeviction",
  save: "",
  // Without the seconds that a primary waits for further replicas before it feeds the first.
  "repl-diskless-sync-delay": "0",
};

/** A `redis-server` for tests, on a free port of the loopback interface. */
export interface TestServer {
  readonly port: number;
  readonly url: string;
  /** Process id, which changes with each start. */
  readonly pid: () => number;
  readonly directory: string;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Ends the process and waits until it is gone. Its data stay. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
  /** Starts it again on the same port and data, with options that may differ, and waits until it answers. */
  readonly start: (options?: ServerOptions) => Promise<void>;
  /** A connection without latchkey's settings; the caller closes it. */
  readonly connect: () => Redis;
  /** Stops it for good and removes its data. */
  readonly remove: () => Promise<void>;
}

/** Starts a server with the settings that latchkey demands, unless `options` say otherwise. */
export async function startServer(options: ServerOptions = {}, attempts = 5): Promise<TestServer> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), "latchkey-redis-"));
  let child: ChildProcess | undefined;
  let latest: ServerOptions = { ...FIT, ...options };

  async function start(changed: ServerOptions = {}): Promise<void> {
    latest = { ...latest, ...changed };
    const fixed = { port: String(port), bind: "127.0.0.1", dir: directory, daemonize: "no" };
    const flags = Object.entries({ ...latest, ...fixed }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ]);
    child = spawn(serverProgram() ?? "redis-server", flags, { stdio: "ignore" });
    await untilAnswering(port, latest.requirepass, child);
  }

  async function stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = new Promise((resolve) => ending.once("exit", resolve));
    ending.kill(signal);
    await ended;
  }

  const killChild = () => child?.kill("SIGKILL");
  process.once("exit", killChild);
  async function remove(): Promise<void> {
    await stop();
    process.off("exit", killChild);
    await removeDirectory(directory);
  }

  try {
    await start();
  } catch (error) {
    await remove();
    // Another process may have taken the port.
    if (attempts > 1) return startServer(options, attempts - 1);
    throw error;
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    pid: () => child?.pid ?? 0,
    directory,
    signal: (signal) => child?.kill(signal),
    stop,
    start,
    connect: () => quietClient({ port }),
    remove,
  };
}

/** A child that rewrites the log may outlive its server by a moment, and write one more file. */
async function removeDirectory(directory: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      // The retries of rmSync do not look for new files.
      rmSync(directory, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

let known: string | null | undefined;

/** Path of `redis-server`; null if there is none. */
export function serverProgram(): string | null {
  known = known === undefined ? findProgram() : known;
  return known;
}

function findProgram(): string | null {
  const found = spawnSync("sh", ["-c", "command -v redis-server"], { encoding: "utf8" });
  return found.status === 0 ? found.stdout.trim() : null;
}

/** A client for tests that does not write errors to the console. */
function quietClient(options: {
  readonly port: number;
  readonly password?: string;
  readonly maxRetriesPerRequest?: null;
}): Redis {
  const client = new Redis({ host: "127.0.0.1", ...options, retryStrategy: () => 20 });
  client.on("error", () => undefined);
  return client;
}

/**
 * A port that nothing listens on, and that no outgoing connection gets: those begin at 32768 on Linux. The bus port of a cluster node is
 * 10,000 higher.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 22_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

/** Waits however slow the machine is, as long as the process lives. */
async function untilAnswering(
  port: number,
  password: string | undefined,
  child: ChildProcess,
): Promise<void> {
  const client = quietClient({
    port,
    maxRetriesPerRequest: null,
    ...(password === undefined ? {} : { password }),
  });
  try {
    const ended = once(child, "exit").then(() => {
      throw new Error(`redis-server on port ${port} ended before it answered`);
    });
    await Promise.race([client.ping(), ended]);
  } finally {
    client.disconnect();
  }
}
