import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type ChargeMoment, type KeyStore, LatchkeyError } from "@latchkey/core";
import { METHODS } from "./methods.js";

/** A call of a store in the other process. `open` opens the next one, empty. */
interface Request {
  readonly id: number;
  readonly store: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** The outcome of a {@link Request}. */
type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: Readonly<Record<string, unknown>> };

/** Stores of another kind than memory. They run in a process of their own, with the host's real timers. */
export interface OtherStores {
  /** Begins a world: the stores of the one before are no longer used, and their places are free. */
  begin(): void;
  /** Opens an empty store. */
  open(): KeyStore;
  /** Waits until no call is under way. @returns Whether there was one. */
  idle(): Promise<boolean>;
  end(): void;
}

/** Starts a process with stores of this URL. Each call is carried out after those before it, so that the results follow from the seed. */
export function startStores(url: string): OtherStores {
  const program = fileURLToPath(new URL("index.js", import.meta.url));
  const child = fork(program, ["--serve-stores", url], { serialization: "advanced", execArgv: [] });
  const waiting = new Map<number, (reply: Reply) => void>();
  let [calls, stores] = [0, 0];
  /** Called when the last call under way is answered. */
  let rest = (): void => undefined;
  child.on("message", (reply: Reply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
    if (waiting.size === 0) rest();
  });
  child.on("exit", (code) => {
    // It has said why.
    if (waiting.size > 0) process.exit(code ?? 1);
  });
  const call = (store: number, method: string, args: readonly unknown[]): Promise<unknown> => {
    calls += 1;
    const id = calls;
    child.send({ id, store, method, args: withoutFunctions(args) } satisfies Request);
    return new Promise((resolve, reject) => {
      waiting.set(id, (reply) => {
        if ("result" in reply) resolve(reply.result);
        else reject(Object.assign(new LatchkeyError("INTERNAL_SERVER_ERROR", ""), reply.error));
      });
    });
  };
  return {
    begin() {
      stores = 0;
    },
    open() {
      stores += 1;
      const store = stores;
      void call(store, "open", []);
      return Object.fromEntries(
        METHODS.map((name) => [name, (...args: readonly unknown[]) => call(store, name, args)]),
      ) as unknown as KeyStore;
    },
    async idle() {
      if (waiting.size === 0) return false;
      await new Promise<void>((resolve) => {
        rest = resolve;
      });
      return true;
    },
    end: () => void child.kill(),
  };
}

/** A copy without functions, which do not travel: a refill that carries uses over has one. */
function withoutFunctions<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutFunctions) as Value;
  const fields = Object.entries(value).filter(([, field]) => typeof field !== "function");
  return Object.fromEntries(
    fields.map(([name, field]) => [name, withoutFunctions(field)]),
  ) as Value;
}

/** Gives a refill its function again. What it returns counts only for a refill that is not owed: others are counted beforehand. */
function revive(moment: unknown): void {
  const { refill } = Object(moment) as Partial<Pick<ChargeMoment, "refill">>;
  if (refill?.carry !== undefined) Object.assign(refill.carry, { countedFrom: () => refill });
}

/** Carries out the calls of the process that started this one. */
export async function serveStores(url: string): Promise<void> {
  const open = await openerOf(url);
  const known = new Map<number, KeyStore>();
  let last: Promise<unknown> = Promise.resolve();
  const answer = async ({ id, store, method, args }: Request): Promise<Reply> => {
    try {
      if (method === "open") {
        known.set(store, await open(store).catch(giveUp));
        return { id, result: undefined };
      }
      const on = known.get(store) as KeyStore;
      revive(args[1]);
      const run = on[method as keyof KeyStore] as (...given: readonly unknown[]) => unknown;
      return { id, result: await run.apply(on, [...args]) };
    } catch (error) {
      const { code, message, outcome, reason } = error as LatchkeyError;
      return { id, error: { code, message, outcome, reason } };
    }
  };
  process.on("message", (request: Request) => {
    last = last.then(() => answer(request)).then((reply) => process.send?.(reply));
  });
}

function giveUp(error: unknown): never {
  process.stderr.write(`the store cannot be opened: ${String(error)}\n`);
  process.exit(1);
}

/** Most stores of a server that are used at once. After each failover and move, a world goes on in another one. */
const MOST_STORES = 12;

/** Returns a function that opens the stores of a URL, by their numbers. */
async function openerOf(url: string): Promise<(store: number) => Promise<KeyStore>> {
  if (url.startsWith("sqlite:")) return sqliteStores();
  return url.startsWith("redis:") ? redisStores(url) : postgresStores(url);
}

async function sqliteStores() {
  const { sqliteStore } = await import("@latchkey/sqlite");
  const { default: Database } = await import("better-sqlite3");
  return async () => sqliteStore(new Database(":memory:"));
}

async function redisStores(url: string) {
  const { redisStore } = await import("@latchkey/redis");
  const { Redis } = await import("ioredis");
  const clients = new Map<number, InstanceType<typeof Redis>>();
  return async (store: number) => {
    const db = store % MOST_STORES;
    clients.get(db)?.disconnect();
    const client = new Redis(url, {
      db,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: 10_000,
    });
    await once(client, "ready");
    clients.set(db, client);
    await client.flushdb();
    return redisStore(client, { allowNoPersistence: true });
  };
}

async function postgresStores(url: string) {
  const { postgresStore } = await import("@latchkey/postgres");
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const known = new Map<string, KeyStore>();
  return async (store: number) => {
    const schema = `world_${store % MOST_STORES}`;
    const opened = known.get(schema) ?? postgresStore(pool, { schema });
    // Creates the tables.
    if (!known.has(schema)) await opened.read("ws_0", []);
    known.set(schema, opened);
    const { rows } = await pool.query(
      `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS tables FROM pg_tables
       WHERE schemaname = $1 AND tablename <> 'schema_version'`,
      [schema],
    );
    await pool.query(`TRUNCATE ${rows[0].tables}`);
    return opened;
  };
}
