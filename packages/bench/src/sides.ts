import { join } from "node:path";
import { createLatchkey, type KeyStore, type Latchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { redisStore } from "@latchkey/redis";
import { sqliteStore } from "@latchkey/sqlite";
import type { Goal } from "./goals.js";
import { memoryLimit, PERMISSION, sqliteLimit, type Verify } from "./limits.js";
import { redisLimit } from "./redis-limit.js";
import type { MeasuredRedis } from "./redis-server.js";

/** Both sides of a measurement, over the same secrets. Each answers whether the secret is good. */
export interface Sides {
  readonly secrets: readonly string[];
  readonly limit: Verify;
  readonly latchkey: Verify;
  close(): Promise<void>;
}

/**
 * Opens both sides, each on a store of its own.
 *
 * @param redis - Needed by goals on Redis.
 */
export async function openSides(
  goal: Goal,
  keyCount: number,
  folder: string,
  redis: MeasuredRedis | null,
): Promise<Sides> {
  const { id, store, isCounted, inFlight, asksPermission } = goal;
  const name = `${id}-${inFlight}-${asksPermission ? "permission" : "bare"}`;
  const authorization = { permissions: PERMISSION };
  const path = (side: string) => join(folder, `${name}-${side}.db`);
  const latchkey = createLatchkey({ store: await openStore() });
  const secrets = await issueKeys(latchkey, keyCount, isCounted);
  return {
    secrets,
    limit: await openLimit(),
    latchkey: asksPermission
      ? (secret) => latchkey.verifyKey({ key: secret, authorization })
      : (secret) => latchkey.verifyKey({ key: secret }),
    close: () => latchkey.close(),
  };

  async function openStore(): Promise<KeyStore> {
    if (store === "memory") return memoryStore();
    if (store === "sqlite") return sqliteStore(path("latchkey"));
    return redisStore(await serverOf(redis).client(), { keyPrefix: name });
  }

  async function openLimit(): Promise<Verify> {
    if (store === "memory") return memoryLimit(secrets, goal);
    if (store === "sqlite") return sqliteLimit(path("limit"), secrets, goal);
    return redisLimit(await serverOf(redis).client(), secrets, goal);
  }
}

function serverOf(redis: MeasuredRedis | null): MeasuredRedis {
  if (redis === null) throw new Error("this goal needs a redis-server on the PATH");
  return redis;
}

async function issueKeys(
  latchkey: Latchkey,
  keyCount: number,
  isCounted: boolean,
): Promise<readonly string[]> {
  const { apiId } = await latchkey.createApi({ name: "benchmark" });
  await latchkey.createPermission({ name: PERMISSION });
  const counters = isCounted
    ? { remaining: 1e12, ratelimit: { limit: 1e12, duration: 60_000 } }
    : {};
  const secrets: string[] = [];
  for (let count = 0; count < keyCount; count += 1) {
    secrets.push((await latchkey.createKey({ apiId, permissions: [PERMISSION], ...counters })).key);
  }
  return secrets;
}
