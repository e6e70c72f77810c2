import type { Damage, DamagedRecord } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import type { Cluster, Redis } from "ioredis";
import { Names } from "../engine/names.js";

/** Where the data of a store is. */
export interface Keyspace {
  readonly client: Redis | Cluster;
  readonly keyPrefix: string;
}

/** Damage as a disk or a careless script would do it, behind the back of the store. */
export function damageBy(keyspaceOf: (store: KeyStore) => Keyspace): Damage {
  return {
    body: (store, record) => writeOver(keyspaceOf(store), record, /(?<=^|\n){.*$/s, '{"a":'),
    version: (store, record) => writeOver(keyspaceOf(store), record, /^\d+/, "one"),
  };
}

/** Overwrites a part of the record's own field, or of its separate body. */
async function writeOver(
  { client, keyPrefix }: Keyspace,
  { workspaceId, kind, id }: DamagedRecord,
  damaged: RegExp,
  text: string,
): Promise<void> {
  const home = new Names(keyPrefix, workspaceId).recordsOf({ kind, id });
  for (const field of [id, `${id} b`]) {
    const stored = await client.hget(home, field);
    if (stored !== null) await client.hset(home, field, stored.replace(damaged, text));
  }
}
