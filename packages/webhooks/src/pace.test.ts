import { createLatchkey, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, onTestFinished, test } from "vitest";
import { enterPace, pacedMs } from "./pace.js";
import { endpointAt, until } from "./testing/sender.js";
import { createWebhooksWith } from "./webhooks.js";

/** Counts as running senders until the end of the test. */
function run(senders: number): void {
  for (let at = 0; at < senders; at += 1) onTestFinished(enterPace());
}

test("up to 125 senders wait as long as one", () => {
  run(125);
  expect([0, 0.5, 1].map((chance) => pacedMs(500, () => chance))).toEqual([500, 500, 500]);
});

test("more senders wait longer, so that together they look no more often, and not all at once", () => {
  run(2_000);
  expect([0, 0.5, 1].map((chance) => pacedMs(500, () => chance))).toEqual([4_000, 8_000, 12_000]);
  expect(pacedMs(5_000, () => 0.5)).toBe(80_000);
});

test("none waits less than a single one", () => {
  run(126);
  expect(pacedMs(500, () => 0)).toBe(500);
});

test("the senders of 500 idle workspaces together ask the store no more often than 125 would, and each one still does", async () => {
  const store = memoryStore();
  const asked = new Map<string, number>();
  const page: KeyStore["page"] = (workspaceId, want) => {
    if (want.kind === "delivery" && want.of === "asked")
      asked.set(workspaceId, (asked.get(workspaceId) ?? 0) + 1);
    return store.page(workspaceId, want);
  };
  const latchkey = createLatchkey({ store: { ...store, page } });
  const endpoints = [endpointAt("http://127.0.0.1:9/")];
  for (let at = 0; at < 500; at += 1) {
    const webhooks = createWebhooksWith(
      latchkey.workspace(`ws_${at}`),
      { endpoints },
      { lookEveryMs: 100 },
    );
    onTestFinished(() => webhooks.stop());
    await webhooks.start();
  }
  await until(() => asked.size === 500);
  asked.clear();
  const since = performance.now();
  await until(() => asked.size === 500);
  const seconds = (performance.now() - since) / 1_000;
  const looks = [...asked.values()].reduce((sum, count) => sum + count, 0);
  // 125 of them would look 1,250 times a second, and 500 at full pace 5,000 times.
  expect(looks / seconds).toBeLessThan(2_000);
});

test("thousands of senders do not all try again a second after the store has failed", async () => {
  run(2_000);
  const store = memoryStore();
  let [isDown, tries] = [false, 0];
  const read: KeyStore["read"] = (workspaceId, wants) => {
    if (!isDown) return store.read(workspaceId, wants);
    tries += 1;
    return Promise.reject(new Error("the store is down"));
  };
  const latchkey = createLatchkey({ store: { ...store, read }, onError: () => undefined });
  const endpoints = [endpointAt("http://127.0.0.1:9/")];
  const webhooks = createWebhooksWith(latchkey, { endpoints }, { chance: () => 0.5 });
  onTestFinished(() => webhooks.stop());
  await webhooks.start();
  isDown = true;
  await until(() => tries > 0);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const first = tries;
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  expect(tries).toBe(first);
});
