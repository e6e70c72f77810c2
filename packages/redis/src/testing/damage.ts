import type { Damage, DamageKind } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import type { Cluster, Redis } from "ioredis";

/** The workspace that the conformance suite damages keys in. */
const WORKSPACE = "ws_conformance";

const GARBAGE: { readonly [Kind in DamageKind]: readonly [field: string, value: string] } = {
  "not-a-number remaining": ["remaining", "NaN"],
  "negative remaining": ["remaining", "-5"],
  "broken json": ["meta", '{"team":'],
  "wrong type": ["limits", '{"name":1}'],
};

/** Where the data of a store are. */
export interface Place {
  readonly client: Redis | Cluster;
  readonly keyPrefix: string;
}

/** Damage as a disk or a careless script would do it, behind the back of the store. */
export function damageBy(placeOf: (store: KeyStore) => Place): Damage {
  const inflict = (field: string, value: string) => async (store: KeyStore, keyId: string) => {
    const { client, keyPrefix } = placeOf(store);
    const root = `${keyPrefix}:{${WORKSPACE}}`;
    const hash = await client.hget(`${root}:key-hashes`, keyId);
    await client.hset(`${root}:k:${hash}`, field, value);
  };
  return Object.fromEntries(
    Object.entries(GARBAGE).map(([kind, [field, value]]) => [kind, inflict(field, value)]),
  );
}
