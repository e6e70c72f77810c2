import type { Damage, DamagedRecord } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import type { Cluster, Redis } from "ioredis";
import { Names } from "../engine/names.js";

/** Where the data of a store are. */
export interface Place {
  readonly client: Redis | Cluster;
  readonly keyPrefix: string;
}

/** Damage as a disk or a careless script would do it, behind the back of the store. */
export function damageBy(placeOf: (store: KeyStore) => Place): Damage {
  return {
    body: (store, record) => writeOver(placeOf(store), record, '1 \n{"a":'),
    version: (store, record) => writeOver(placeOf(store), record, "one \n{}"),
  };
}

async function writeOver(
  { client, keyPrefix }: Place,
  { workspaceId, kind, id }: DamagedRecord,
  text: string,
): Promise<void> {
  const names = new Names(keyPrefix).of(workspaceId);
  await client.hset(names.recordsOf({ kind, id }), id, text);
}
