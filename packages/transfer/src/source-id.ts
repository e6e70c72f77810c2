import { randomUUID } from "node:crypto";
import {
  corruptRecord,
  DIRECTORY_ID,
  type KeyStore,
  type RecordAddress,
  type StoredRecord,
} from "@latchkey/core";
import { aChange } from "./records/changes.js";

/** Where a store keeps its source id. It is in no list, so that a copy does not get the same id. */
const ADDRESS: RecordAddress = { kind: "workspace", id: "$store" };

/**
 * The name of a store as the source of copies: random, and written to the store by the first copy. A repeated copy recognises by
 * it whether the target was started from this store.
 *
 * @throws LatchkeyError `STORE_CORRUPT` if it cannot be read, because the store would otherwise get a second name.
 */
export async function sourceIdOf(store: KeyStore): Promise<string> {
  for (;;) {
    const { found } = await store.read(DIRECTORY_ID, [ADDRESS]);
    const [loaded = null] = found;
    if (loaded !== null) return `store:${readName(loaded.record)}`;
    const record = { ...ADDRESS, version: 1, link: null, body: randomUUID() };
    // Another copy may have written one first: then that one counts.
    const expects = [{ ...ADDRESS, version: null }];
    await store.commit(DIRECTORY_ID, aChange({ expects, puts: [{ record }] }));
  }
}

function readName({ body }: StoredRecord): string {
  if (typeof body === "string" && body !== "") return body;
  throw corruptRecord("name of the store");
}
