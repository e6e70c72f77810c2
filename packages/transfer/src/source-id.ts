import { randomUUID } from "node:crypto";
import {
  corruptRecord,
  DIRECTORY_ID,
  type KeyStore,
  type RecordAddress,
  type StoredRecord,
} from "@latchkey/core";
import { aChange } from "./records/changes.js";

/** Where a store keeps what it is called. No list leads there, so that no copy of it is called the same. */
const ADDRESS: RecordAddress = { kind: "workspace", id: "$store" };

/**
 * What a store is called as the source of a copy: at random, and the same for good, since the first copy writes it there. A copy that
 * is called again finds out by it whether the target was begun from this store.
 *
 * @throws LatchkeyError `STORE_CORRUPT` where it cannot be read: two stores would be called the same.
 */
export async function sourceIdOf(store: KeyStore): Promise<string> {
  for (;;) {
    const { found } = await store.read(DIRECTORY_ID, [ADDRESS]);
    const [loaded = null] = found;
    if (loaded !== null) return `store:${readName(loaded.record)}`;
    const record = { ...ADDRESS, version: 1, link: null, body: randomUUID() };
    // Another copy may come first: then its answer counts.
    const expects = [{ ...ADDRESS, version: null }];
    await store.commit(DIRECTORY_ID, aChange({ expects, puts: [{ record }] }));
  }
}

function readName({ body }: StoredRecord): string {
  if (typeof body === "string" && body !== "") return body;
  throw corruptRecord("name of the store");
}
