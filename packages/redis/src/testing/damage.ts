import type { Damage, DamagedRecord } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import type { Cluster, Redis } from "ioredis";

/** Where the data of a store are. */
export interface Place {
  readonly client: Redis | Cluster;
  readonly keyPrefix: string;
}

/** Damage as a disk or a careless script would do it, behind the back of the store. */
export function damageBy(placeOf: (store: KeyStore) => Place): Damage {
  return {
    body: (store, record) => writeOver(placeOf(store), record, { 0: '{"a":' }, "1  +\n{"),
    version: (store, record) => {
      return writeOver(placeOf(store), record, { v: `${record.id} one` }, "one  +\n{}");
    },
  };
}

/**
 * @param fields - Of a key, which is a hash of its own.
 * @param text - What a record of another kind becomes.
 */
async function writeOver(
  { client, keyPrefix }: Place,
  { workspaceId, kind, id }: DamagedRecord,
  fields: Readonly<Record<string, string>>,
  text: string,
): Promise<void> {
  const root = `${keyPrefix}:{${workspaceId}}`;
  if (kind === "key") {
    const address = await client.hget(`${root}:r:key`, id);
    await client.hset(`${root}:k:${address}`, fields);
  } else {
    await client.hset(`${root}:r:${kind}`, id, text);
  }
}
