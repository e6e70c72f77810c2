import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

/** Counts the pages that are read, per list. */
function countingPages(store: KeyStore) {
  const pages = { log: 0, asked: 0, ofEndpoints: 0 };
  const page: KeyStore["page"] = (workspaceId, want) => {
    if (want.kind === "auditEntry") pages.log += 1;
    // Dead letters are read now and then, to delete the oldest.
    if (want.kind === "delivery" && want.of !== "dead") {
      if (want.of === "asked") pages.asked += 1;
      else pages.ofEndpoints += 1;
    }
    return store.page(workspaceId, want);
  };
  return { pages, store: { ...store, page } };
}

test("while there is nothing to send, the store is read once for all endpoints together", async () => {
  const { pages, store } = countingPages(memoryStore());
  const endpoints = Array.from({ length: 50 }, (_, at) => endpointAt(`http://127.0.0.1:9/${at}`));
  await sendingProcess(store, { endpoints }).start();
  // Each endpoint reads once at its start, and once more after the first common look, which cannot know what is new.
  await until(() => pages.log >= 2 * endpoints.length + 20);
  Object.assign(pages, { log: 0, asked: 0, ofEndpoints: 0 });
  await until(() => pages.log >= 40);
  // A look reads two pages to find the end of the log, and one to find events to send again.
  expect(pages.asked).toBeLessThanOrEqual(pages.log / 2 + 1);
  expect(pages.asked).toBeGreaterThan(0);
  expect(pages.ofEndpoints).toBe(0);
});
