import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

/** Counts the pages that are read, by their list. */
function countingPages(store: KeyStore) {
  const pages = { log: 0, asked: 0, ofEndpoints: 0 };
  const page: KeyStore["page"] = (workspaceId, want) => {
    if (want.kind === "auditEntry") pages.log += 1;
    // The dead letters are read now and then, to delete the oldest.
    if (want.kind === "delivery" && want.of !== "dead") {
      if (want.of === "asked") pages.asked += 1;
      else pages.ofEndpoints += 1;
    }
    return store.page(workspaceId, want);
  };
  return { pages, store: { ...store, page } };
}

test("where nothing is to be sent, the store is asked once for all endpoints", async () => {
  const { pages, store } = countingPages(memoryStore());
  const endpoints = Array.from({ length: 50 }, (_, at) => endpointAt(`http://127.0.0.1:9/${at}`));
  await sendingProcess(store, { endpoints }).start();
  // Each endpoint has looked by itself, and once more when the first common look found what it cannot know to be old.
  await until(() => pages.log >= 2 * endpoints.length + 20);
  Object.assign(pages, { log: 0, asked: 0, ofEndpoints: 0 });
  await until(() => pages.log >= 40);
  // Two pages find the end of the log, and one what shall be sent again.
  expect(pages.asked).toBeLessThanOrEqual(pages.log / 2 + 1);
  expect(pages.asked).toBeGreaterThan(0);
  expect(pages.ofEndpoints).toBe(0);
});
