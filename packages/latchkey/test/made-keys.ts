import type { KeyStore, Latchkey, ListKeysInput } from "@latchkey/core";
import { type OpenContext, rejectionOf, type TestContext } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

let secrets = 0;

/** Creates keys of an API, many in one write. */
export async function makeKeys(
  latchkey: Latchkey,
  apiId: string,
  count: number,
  fields: object = {},
): Promise<readonly string[]> {
  const keyIds: string[] = [];
  while (keyIds.length < count) {
    const keys = Array.from({ length: Math.min(100, count - keyIds.length) }, () => {
      secrets += 1;
      return { apiId, plaintext: `key-${secrets}-of-${apiId}`, ...fields };
    });
    keyIds.push(...(await latchkey.createKeys(keys)).keyIds);
  }
  return keyIds;
}

/** A latchkey on a context's store that counts the keys and pages it reads, and the maximum keys of one page. */
export function counting(context: TestContext) {
  const counts = { keys: 0, pages: 0, atOnce: 0, ofPage: 0 };
  let running = 0;
  const store: KeyStore = wrapped(context.store, {
    page: async (workspaceId, want) => {
      running += 1;
      counts.atOnce = Math.max(counts.atOnce, running);
      await Promise.resolve();
      const page = await context.store.page(workspaceId, want);
      running -= 1;
      if (want.kind === "key") {
        counts.keys += page.found.length;
        counts.pages += 1;
        counts.ofPage = Math.max(counts.ofPage, want.limit);
      }
      return page;
    },
  });
  return { counts, latchkey: context.another({ store }) };
}

/** The keys of all pages, and the number of scanned keys that each page reports. */
export async function allPages(latchkey: Latchkey, question: ListKeysInput) {
  const ids: string[] = [];
  const scanned: (number | undefined)[] = [];
  let cursor: string | undefined;
  do {
    const page = await latchkey.listKeys({ ...question, ...(cursor && { cursor }) });
    ids.push(...page.keys.map(({ id }) => id));
    scanned.push(page.scanned);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { ids, scanned };
}

/** The ids on a page. */
export const idsOf = ({ keys }: { readonly keys: readonly { readonly id: string }[] }) =>
  keys.map(({ id }) => id);

/** A context with APIs of these names. */
export async function openWithApis(open: OpenContext, ...names: string[]) {
  const context = open();
  const { latchkey } = context;
  const apiIds: string[] = [];
  for (const name of names) apiIds.push((await latchkey.createApi({ name })).apiId);
  return { ...context, context, apiIds, apiId: apiIds[0] as string };
}

/** Why a question is refused. */
export async function rejectionOfList(latchkey: Latchkey, question: ListKeysInput) {
  const { code, issues, ...error } = await rejectionOf(latchkey.listKeys(question));
  return { code, issues, ...error };
}
