import { type ChildProcess, type SpawnSyncOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";

/** For tests that are not about time: on a machine that stalls for a while answers are late, and that is no failure. */
export const PATIENT = { chargeTimeoutMs: 60_000, timeoutMs: 60_000 } as const;

/** A PostgreSQL server for tests, on a socket in a folder of its own. */
export interface TestServer {
  /** Names a database of the server for node-postgres. */
  readonly url: string;
  /** The folder of its socket. */
  readonly folder: string;
  /** Ends the server and all of its processes at once, as a crash does: it starts with a recovery. Waits until they are gone. */
  readonly crash: () => Promise<void>;
  /** Starts it again on the same data, and waits until it answers. */
  readonly start: () => Promise<void>;
  /** Stops it for good and removes its data. */
  readonly remove: () => Promise<void>;
}

/** Files of unused servers, by the program that made them. */
const TEMPLATES = fileURLToPath(new URL("../../node_modules/.cache/servers/", import.meta.url));

let known: string | null | undefined;

/** The folder of PostgreSQL's programs: from the PATH, or Debian's; null if there are none. */
export function programFolder(): string | null {
  known = known === undefined ? findPrograms() : known;
  return known;
}

function findPrograms(): string | null {
  const found = spawnSync("sh", ["-c", "command -v postgres"], { encoding: "utf8" });
  if (found.status === 0) return join(realpathSync(found.stdout.trim()), "..");
  const versions = "/usr/lib/postgresql";
  if (!existsSync(versions)) return null;
  const newest = readdirSync(versions).sort((one, other) => Number(other) - Number(one))[0];
  const folder = join(versions, newest ?? "", "bin");
  return existsSync(join(folder, "postgres")) ? folder : null;
}

/** The user to run the server as. The server refuses to run as root: then it is a user that owns nothing. */
export function ownUser(): { readonly uid: number; readonly gid: number } | undefined {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
}

/** @throws Error when the program fails. */
function run(program: string, args: readonly string[], options: SpawnSyncOptions = {}): void {
  const { status, stderr } = spawnSync(program, args, { ...options, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
}

/** Makes the files of a server. `initdb` takes longer than most tests: it runs once, and its result is copied. */
function makeFiles(programs: string, data: string, options: SpawnSyncOptions): void {
  const initdb = join(programs, "initdb");
  const { size, mtimeMs } = statSync(initdb);
  const template = join(TEMPLATES, [size, Math.floor(mtimeMs), options.uid ?? "own"].join("-"));
  if (existsSync(template)) {
    run("cp", ["-a", template, data]);
    return;
  }
  const args = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  run(initdb, [...args, "-D", data], options);
  mkdirSync(TEMPLATES, { recursive: true });
  const copy = mkdtempSync(`${template}.`);
  try {
    run("cp", ["-a", data, join(copy, "data")]);
    renameSync(join(copy, "data"), template);
  } catch {
    // Another process was first. If no copy can be kept, the next server is made like this one.
  }
  rmSync(copy, { recursive: true });
}

/**
 * Starts a server.
 *
 * @param settings - Lines of `postgresql.conf`. Without any, it writes through to the disk.
 * @param primary - The server whose standby it is, under the name `standby`.
 */
export async function startServer(
  settings: Readonly<Record<string, string>> = {},
  primary?: TestServer,
): Promise<TestServer> {
  const programs = programFolder();
  if (programs === null) throw new Error("there is no PostgreSQL server on this machine");
  const folder = mkdtempSync(join(tmpdir(), "latchkey-pg-"));
  const user = ownUser();
  chmodSync(folder, 0o700);
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const options = { ...user, cwd: folder };
  if (primary === undefined) makeFiles(programs, data, options);
  else {
    const from = ["-U", "postgres", "-h", primary.folder, "-R", "--checkpoint=fast", "--no-sync"];
    run(join(programs, "pg_basebackup"), [...from, "-D", data], options);
  }
  const flags = Object.entries({
    listen_addresses: "",
    unix_socket_directories: folder,
    max_connections: "60",
    shared_buffers: "32MB",
    ...(primary !== undefined && {
      primary_conninfo: `host=${primary.folder} user=postgres application_name=standby`,
    }),
    ...settings,
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const port = settings.port === undefined ? "" : `&port=${settings.port}`;
  const url = `postgres://postgres@/postgres?host=${encodeURIComponent(folder)}${port}`;
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    child = spawn(join(programs ?? "", "postgres"), ["-D", data, ...flags], {
      ...user,
      cwd: folder,
      stdio: "ignore",
    });
    await untilAnswering(url, child);
  }

  async function crash(): Promise<void> {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, "exit");
    // Immediate shutdown. SIGKILL would leave its child processes alone, and they would go on answering for a while.
    ending.kill("SIGQUIT");
    await ended;
  }

  // Its child processes end when they find that it is gone.
  const killChild = () => child?.kill("SIGKILL");
  process.once("exit", killChild);
  async function remove(): Promise<void> {
    await crash();
    process.off("exit", killChild);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  try {
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  return { url, folder, crash, start, remove };
}

/** Waits however slow the machine is, as long as the process lives. */
export async function untilAnswering(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error("the server ended before it answered");
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
