import { randomUUID } from "node:crypto";
import { DIRECTORY_ID, type KeyStore, type RecordAddress } from "@latchkey/core";
import { aChange } from "./records/changes.js";

/** Where a store keeps what it is called. No list leads there, so that no copy of it is called the same. */
const ADDRESS: RecordAddress = { kind: "workspace", id: "$store" };

/**
 * What a store is called as the source of a copy: at random, and the same for good, since the first copy writes it there. A copy that
 * is called again finds out by it whether the target was begun from this store.
 */
export async function sourceIdOf(store: KeyStore): Promise<string> {
  for (;;) {
    const { found } = await store.read(DIRECTORY_ID, [ADDRESS]);
    const [loaded = null] = found;
    if (loaded !== null) return `store:${String(loaded.record.body)}`;
    const record = { ...ADDRESS, version: 1, link: null, body: randomUUID() };
    // Another copy may come first: then its answer counts.
    const expects = [{ ...ADDRESS, version: null }];
    await store.commit(DIRECTORY_ID, aChange({ expects, puts: [{ record }] }));
  }
}
