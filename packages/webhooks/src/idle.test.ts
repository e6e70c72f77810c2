import type { KeyStore, PageWant } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

/** Counts what is paged through, by kind. */
function countingPages(store: KeyStore) {
  const pages = { auditEntry: 0, delivery: 0 } as Record<PageWant["kind"], number>;
  const page: KeyStore["page"] = (workspaceId, want) => {
    pages[want.kind] += 1;
    return store.page(workspaceId, want);
  };
  return { pages, store: { ...store, page } };
}

test("where nothing is to be sent, the store is asked once for all endpoints", async () => {
  const { pages, store } = countingPages(memoryStore());
  const endpoints = Array.from({ length: 50 }, (_, at) => endpointAt(`http://127.0.0.1:9/${at}`));
  await sendingProcess(store, { endpoints }).start();
  // Each endpoint has looked by itself, and once more when the first common look found what it cannot know to be old.
  await until(() => pages.auditEntry >= 2 * endpoints.length + 20);
  Object.assign(pages, { auditEntry: 0, delivery: 0 });
  await until(() => pages.auditEntry >= 40);
  // Two pages find the end of the log, and one what shall be sent again.
  expect(pages.delivery).toBeLessThanOrEqual(pages.auditEntry / 2 + 1);
});
