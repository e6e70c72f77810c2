import { type KeyStore, keysOfApi, type Latchkey, type LoadedRecord } from "@latchkey/core";

/** Records per page. */
const PAGE = 500;

/** The records of all APIs of the workspace, damaged ones too. */
export async function* apiRecords(
  latchkey: Latchkey,
  store: KeyStore,
): AsyncGenerator<LoadedRecord, void, undefined> {
  for await (const page of recordPages(latchkey, store, { kind: "api", list: "api" })) yield* page;
}

/** The records of all keys of the workspace, page by page, damaged ones and those of damaged APIs too. */
export async function* keyPages(
  latchkey: Latchkey,
  store: KeyStore,
): AsyncGenerator<readonly LoadedRecord[], void, undefined> {
  for await (const { record } of apiRecords(latchkey, store))
    yield* recordPages(latchkey, store, { kind: "key", list: keysOfApi(record.id) });
}

/** The records of a list, page by page, damaged ones too. */
export async function* recordPages(
  { workspaceId }: Latchkey,
  store: KeyStore,
  list: { readonly kind: "api" | "key" | "identity" | "rootKey"; readonly list: string },
): AsyncGenerator<readonly LoadedRecord[], void, undefined> {
  let after: string | null = null;
  do {
    const page = await store.page(workspaceId, { ...list, after, limit: PAGE });
    yield page.found;
    after = page.hasMore ? (page.found.at(-1)?.record.id ?? null) : null;
  } while (after !== null);
}
