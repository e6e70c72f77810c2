import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey, type KeyStore, type Latchkey, type LatchkeyOptions } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { redisStore } from "@latchkey/redis";
import {
  describeWithRedis,
  REDIS_URL,
  startServer,
  type TestServer,
} from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { afterAll, afterEach, beforeAll, describe } from "vitest";

/** A latchkey over an empty store, with a clock that the test moves. */
export interface TestContext {
  readonly latchkey: Latchkey;
  readonly store: KeyStore;
  /** Another latchkey over the same store and clock, with nothing cached: what another process sees. */
  another(options?: Partial<LatchkeyOptions>): Latchkey;
  now(): number;
  setClock(now: number): void;
  advance(ms: number): void;
}

/** Tuesday, 2026-03-10, 12:00 UTC. */
export const NOON: number = Date.UTC(2026, 2, 10, 12);

export const HOUR_MS = 3_600_000;
export const DAY_MS: number = 24 * HOUR_MS;

/** Two vault keys that differ. */
export const VAULT_KEYS: readonly [Uint8Array, Uint8Array] = [
  Uint8Array.from({ length: 32 }, (_, index) => index + 1),
  Uint8Array.from({ length: 32 }, (_, index) => 200 - index),
];

type Promises = (open: (options?: Partial<LatchkeyOptions>) => TestContext) => void;
type OpenEmptyStore = (folder: string) => KeyStore;

/** Runs the same promises over every store. */
export function describeOnEveryStore(title: string, promises: Promises): void {
  describe(`${title} on memory`, () => describeOn(() => memoryStore(), promises));
  describe(`${title} on SQLite`, () =>
    describeOn((folder) => sqliteStore(join(folder, "keys.db")), promises));
  describeWithRedis(`${title} on Redis`, () => {
    let server: TestServer | undefined;
    beforeAll(async () => {
      server = REDIS_URL === null ? await startServer() : undefined;
    });
    afterAll(() => server?.remove());
    describeOn(() => {
      // Whatever the server of REDIS_URL is set to, it holds tests only; and a busy machine answers late.
      const patience = { configTimeoutMs: 20_000, commandTimeoutMs: 20_000 };
      const lenient = { allowEviction: true, allowNoPersistence: true, ...patience };
      const url = REDIS_URL ?? (server?.url as string);
      return redisStore(url, { ...lenient, keyPrefix: `test:${randomUUID()}` });
    }, promises);
  });
}

function describeOn(openEmptyStore: OpenEmptyStore, promises: Promises): void {
  const cleanUps: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  });

  promises((options = {}) => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-"));
    const store = openEmptyStore(folder);
    cleanUps.push(async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    });
    let instant = NOON;
    const another = (more: Partial<LatchkeyOptions> = {}) =>
      createLatchkey({ store, clock: () => instant, ...options, ...more });
    return {
      latchkey: another(),
      store,
      another,
      now: () => instant,
      setClock: (now) => {
        instant = now;
      },
      advance: (ms) => {
        instant += ms;
      },
    };
  });
}

/** Issues a key of an API of its own. */
export async function issue(
  context: TestContext,
  fields: Partial<Parameters<TestContext["latchkey"]["createKey"]>[0]> = {},
) {
  const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
  return { apiId, ...(await context.latchkey.createKey({ apiId, ...fields })) };
}

/** The error that a call rejects with; fails when it resolves. */
export async function rejectionOf(
  call: Promise<unknown>,
): Promise<Error & { code?: string; issues?: unknown }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new TypeError("rejected with something that is not an Error");
  }
  throw new Error("expected a rejection, and the call resolved");
}
