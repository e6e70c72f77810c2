import { randomUUID } from "node:crypto";
import { describeKeyStore, type KeyStoreOptions } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import type { Cluster, Redis } from "ioredis";
import { redisStore } from "../index.js";
import { damageBy, type Place } from "./damage.js";

/** Whatever the server of REDIS_URL is set to, it holds tests only. */
const LENIENT = {
  allowEviction: true,
  allowNoPersistence: true,
  configTimeoutMs: 20_000,
  commandTimeoutMs: 20_000,
};

const places = new WeakMap<KeyStore, Place>();
const placeOf = (store: KeyStore) => places.get(store) as Place;

/** A store on a client that all tests share, under key names of its own. */
function storeOn(client: Redis | Cluster, keyPrefix = `test:${randomUUID()}`): KeyStore {
  const store = redisStore(client, { ...LENIENT, keyPrefix });
  places.set(store, { client, keyPrefix });
  return store;
}

/** Runs the contract of the port on two clients of one server or cluster. */
export function describeContract(
  name: string,
  clients: () => readonly [Redis | Cluster, Redis | Cluster],
  options: KeyStoreOptions = {},
): void {
  describeKeyStore(name, () => storeOn(clients()[0]), {
    openAgain: (store) => storeOn(clients()[1], placeOf(store).keyPrefix),
    damage: damageBy(placeOf),
    ...options,
  });
}
