import { createHash, hash as oneShot, randomBytes } from "node:crypto";
import {
  type ChargePlan,
  type KeyStore,
  type LoadedKey,
  type NewKey,
  NO_CHANGES,
} from "@latchkey/core";
import { sqliteStore } from "@latchkey/sqlite";
import Database from "better-sqlite3";
import { aKey, anApi, aPlan, NOW, WORKSPACE } from "./fixtures.js";
import { openScratch } from "./scratch.js";

/**
 * Charges of this store against the least work that could answer: a hand-written look-up, and a hand-written
 * transaction. Run from the root of the repository:
 *
 * `npm run build && node packages/sqlite/dist/testing/measure.worker.js`
 */
const KEYS = 10_000;
const ROUND = 10_000;
const ROUNDS = 11;
/** Keys that one step writes. */
const AT_ONCE = 100;

const scratch = openScratch();
const secrets = Array.from({ length: KEYS }, () => `pay_live_${randomBytes(16).toString("hex")}`);
const hashes = secrets.map((secret) => createHash("sha256").update(secret).digest("base64url"));
const order = Array.from({ length: ROUND }, () => Math.floor(Math.random() * KEYS));
const keyIdOf = (index: number) => `key_${String(index).padStart(26, "0")}`;

function openLimit(path: string) {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  database.exec(`CREATE TABLE k (hash TEXT PRIMARY KEY, id TEXT, api TEXT, name TEXT, start TEXT,
    version INTEGER, enabled INTEGER, expires INTEGER, remaining INTEGER, started INTEGER, used INTEGER,
    max INTEGER) STRICT, WITHOUT ROWID`);
  const insert = database.prepare(
    "INSERT INTO k VALUES (?, ?, 'api_11111111111111111111111111', 'a name', 'pay_live_ab', 1, 1, NULL, 1000000000, 0, 0, 1000000000)",
  );
  database.transaction(() => {
    for (const [index, hash] of hashes.entries()) insert.run(hash, keyIdOf(index));
  })();
  const select = database
    .prepare(
      "SELECT id, version, enabled, expires, remaining, started, used, max FROM k WHERE hash = ?",
    )
    .raw(true);
  const update = database.prepare(
    "UPDATE k SET remaining = ?, started = ?, used = ? WHERE hash = ?",
  );
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  return {
    async look(secret: string): Promise<boolean> {
      const row = select.get(oneShot("sha256", secret, "base64url")) as number[];
      return row[2] === 1;
    },
    async take(secret: string): Promise<boolean> {
      const hash = oneShot("sha256", secret, "base64url");
      begin.run();
      const [, , , , remaining, started, used, max] = select.get(hash) as number[];
      const window = NOW - (NOW % 60_000);
      const inWindow = started === window ? (used as number) : 0;
      if ((remaining as number) < 1 || inWindow + 1 > (max as number)) {
        commit.run();
        return false;
      }
      update.run((remaining as number) - 1, window, inWindow + 1, hash);
      commit.run();
      return true;
    },
  };
}

function keyAt(index: number, isCounted: boolean): NewKey {
  const limit = { name: "default", limit: 1e9, durationMs: 60_000 };
  return aKey(index, isCounted ? 1e9 : null, {
    id: keyIdOf(index),
    hash: hashes[index] as string,
    start: "pay_live_ab",
    name: "a name",
    ratelimits: isCounted ? [{ ...limit, type: null, async: false, autoApply: true }] : [],
  });
}

async function openOurs(path: string, isCounted: boolean) {
  const store = sqliteStore(path);
  await store.insertApi(anApi(), NO_CHANGES);
  const start = process.hrtime.bigint();
  for (let first = 0; first < KEYS; first += AT_ONCE) {
    const keys = Array.from({ length: AT_ONCE }, (_, index) => keyAt(first + index, isCounted));
    await store.insertKeys(keys, NO_CHANGES);
  }
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  console.log(`written ${AT_ONCE} at once: ${Math.round(KEYS / seconds)} keys/s`);
  const loaded: LoadedKey[] = [];
  for (let index = 0; index < KEYS; index += 1) {
    loaded.push((await store.findKey(hashes[index] as string, WORKSPACE)) as LoadedKey);
  }
  return { store, loaded };
}

function planOf(loaded: LoadedKey): ChargePlan {
  return aPlan(loaded, {
    limits: loaded.key.ratelimits.map(({ name, limit, durationMs }) => ({
      owner: "key",
      isConfigured: true,
      name,
      limit,
      durationMs,
      cost: 1,
    })),
  });
}

interface Opened {
  readonly store: KeyStore;
  readonly loaded: readonly LoadedKey[];
}

/** A charge, and what a verification does besides: the hash, by which a loaded key is found in memory. */
async function charge({ store, loaded }: Opened, index: number): Promise<void> {
  const hash = oneShot("sha256", secrets[index] as string, "base64url");
  if (hash !== hashes[index]) throw new Error("wrong hash");
  const result = await store.charge(planOf(loaded[index] as LoadedKey));
  if (result.kind !== "charged") throw new Error(result.kind);
}

/** Commits by another connection to the same file, so that nothing that was read before is known any more. */
function openNoise(path: string) {
  const database = new Database(path);
  database.pragma("synchronous = OFF");
  database.exec("CREATE TABLE noise (n INTEGER PRIMARY KEY) STRICT");
  const insert = database.prepare("INSERT INTO noise DEFAULT VALUES");
  // Both start from a file that everything was copied into.
  database.pragma("wal_checkpoint(TRUNCATE)");
  return { commit: () => insert.run(), close: () => database.close() };
}

/** Microseconds for one call, each after a commit of another connection that is not counted. */
async function underNoise(noise: { commit(): void }, call: (index: number) => Promise<unknown>) {
  let elapsed = 0n;
  for (const index of order.slice(0, ROUND / 10)) {
    noise.commit();
    const start = process.hrtime.bigint();
    await call(index);
    elapsed += process.hrtime.bigint() - start;
  }
  return Number(elapsed) / 1000 / (ROUND / 10);
}

async function alone(call: (index: number) => Promise<unknown>) {
  const start = process.hrtime.bigint();
  for (const index of order) await call(index);
  return Number(process.hrtime.bigint() - start) / 1000 / ROUND;
}

async function run(): Promise<void> {
  const limitPath = scratch.newPath();
  const limit = openLimit(limitPath);
  const plainPath = scratch.newPath();
  const plain = await openOurs(plainPath, false);
  const counted = await openOurs(scratch.newPath(), true);
  const limitNoise = openNoise(limitPath);
  const plainNoise = openNoise(plainPath);
  const look = (index: number) => limit.look(secrets[index] as string);
  const take = (index: number) => limit.take(secrets[index] as string);
  const ourLook = (index: number) => charge(plain, index);
  const ourTake = (index: number) => charge(counted, index);
  const cases: readonly (readonly [
    name: string,
    limit: () => Promise<number>,
    ours: () => Promise<number>,
  ])[] = [
    ["no counters", () => alone(look), () => alone(ourLook)],
    [
      "no counters, after a commit by another connection",
      () => underNoise(limitNoise, look),
      () => underNoise(plainNoise, ourLook),
    ],
    ["uses + window", () => alone(take), () => alone(ourTake)],
  ];
  for (const [name, limitRound, ourRound] of cases) {
    const times: [number, number][] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      times.push([await limitRound(), await ourRound()]);
    const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[ROUNDS >> 1] as number;
    const least = (numbers: number[]) => Math.min(...numbers);
    const report = [median, least].map((of) => {
      const [base, ours] = [of(times.map(([time]) => time)), of(times.map(([, time]) => time))];
      return `limit ${base.toFixed(2)} µs, ours ${ours.toFixed(2)} µs, ratio ${(ours / base).toFixed(2)}`;
    });
    console.log(`${name}: median ${report[0]}; best ${report[1]}`);
  }
  for (const { store } of [plain, counted]) await store.close();
  for (const noise of [limitNoise, plainNoise]) noise.close();
  scratch.remove();
}

await run();
