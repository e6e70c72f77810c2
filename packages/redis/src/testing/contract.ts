import { randomUUID } from "node:crypto";
import { describeKeyStore, type KeyStoreOptions } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import type { Cluster, Redis } from "ioredis";
import { redisStore } from "../index.js";
import { damageBy, type Keyspace } from "./damage.js";
import { PATIENT } from "./redis-server.js";

/** Whatever the settings of the server at REDIS_URL are, it holds only data of tests. */
const LENIENT = {
  allowEviction: true,
  allowNoPersistence: true,
  ...PATIENT,
};

const keyspaces = new WeakMap<KeyStore, Keyspace>();
const keyspaceOf = (store: KeyStore) => keyspaces.get(store) as Keyspace;

/** A store on a client that all tests share, with its own prefix of key names. */
function storeOn(client: Redis | Cluster, keyPrefix = `test:${randomUUID()}`): KeyStore {
  const store = redisStore(client, { ...LENIENT, keyPrefix });
  keyspaces.set(store, { client, keyPrefix });
  return store;
}

/** The names of a store's keys in Redis. */
async function namesOf({ client, keyPrefix }: Keyspace): Promise<readonly string[]> {
  const nodes = "nodes" in client ? client.nodes("master") : [client];
  return (await Promise.all(nodes.map((node) => node.keys(`${keyPrefix}*`)))).flat();
}

/** As after the promotion of a replica: everything written since then is gone. */
async function saveState(store: KeyStore): Promise<() => Promise<void>> {
  const keyspace = keyspaceOf(store);
  const { client } = keyspace;
  const saved = await Promise.all(
    (await namesOf(keyspace)).map(async (name) => [name, await client.dumpBuffer(name)] as const),
  );
  return async () => {
    for (const name of await namesOf(keyspace)) await client.del(name);
    for (const [name, value] of saved) await client.restore(name, 0, value);
  };
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
    saveState,
    ...options,
  });
}
