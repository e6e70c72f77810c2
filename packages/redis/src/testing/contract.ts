import { randomUUID } from "node:crypto";
import { describeKeyStore, type KeyStoreOptions } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import type { Cluster, Redis } from "ioredis";
import { redisStore } from "../index.js";
import { damageBy, type Keyspace } from "./damage.js";

/** Whatever the server of REDIS_URL is set to, it holds tests only. */
const LENIENT = {
  allowEviction: true,
  allowNoPersistence: true,
  configTimeoutMs: 20_000,
  commandTimeoutMs: 20_000,
};

const keyspaces = new WeakMap<KeyStore, Keyspace>();
const keyspaceOf = (store: KeyStore) => keyspaces.get(store) as Keyspace;

/** A store on a client that all tests share, under key names of its own. */
function storeOn(client: Redis | Cluster, keyPrefix = `test:${randomUUID()}`): KeyStore {
  const store = redisStore(client, { ...LENIENT, keyPrefix });
  keyspaces.set(store, { client, keyPrefix });
  return store;
}

/** Runs the contract of the port on two clients of one server or cluster. */
export function describeContract(
  name: string,
  clients: () => readonly [Redis | Cluster, Redis | Cluster],
  options: KeyStoreOptions = {},
): void {
  describeKeyStore(name, () => storeOn(clients()[0]), {
    openAgain: (store) => storeOn(clients()[1], keyspaceOf(store).keyPrefix),
    damage: damageBy(keyspaceOf),
    ...options,
  });
}
