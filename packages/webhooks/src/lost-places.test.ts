import { deliveriesOf, type Latchkey } from "@latchkey/core";
import { failingOver } from "@latchkey/core/testing";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

/** Waits until the store has `count` endpoints, and each of them has read the whole log. */
function allRead(latchkey: Latchkey, count: number): Promise<void> {
  return until(async () => {
    const endpoints = await deliveriesOf(latchkey).listEndpoints();
    return endpoints.length === count && endpoints.every(({ unread }) => unread === 0);
  });
}

describeOnEveryStore("a store that loses the position of an endpoint", (openStore) => {
  test("gets it back from the process that added it, and no event written before that is skipped", async () => {
    const [receiver, added] = [await startReceiver(), await startReceiver()];
    const { store, cut, failOver } = failingOver(openStore()(), openStore()());
    const endpoint = endpointAt(receiver.url);
    const before = sendingProcess(store, { endpoints: [endpoint] });
    const { latchkey } = before;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await before.start();
    await before.stop();
    cut();
    const endpoints = [endpoint, endpointAt(added.url)];
    const process = sendingProcess(store, { endpoints }, { lookEveryMs: 200 });
    await process.start();
    failOver();
    const { keyId } = await latchkey.createKey({ apiId });
    await until(() => receiver.received.length > 0);
    await allRead(latchkey, 2);
    await process.stop();
    expect(added.received.map(({ about }) => about)).toEqual([keyId]);
    expect(process.errors.map(String)).toEqual([
      "Error: webhooks: the store lost the position of an endpoint; sending continues from where this process started",
    ]);
  });

  test("gets it back if it was the only one", async () => {
    const receiver = await startReceiver();
    const { store, cut, failOver } = failingOver(openStore()(), openStore()());
    const process = sendingProcess(store, { endpoints: [endpointAt(receiver.url)] });
    const { latchkey } = process;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    cut();
    await process.start();
    failOver();
    const { keyId } = await latchkey.createKey({ apiId });
    await allRead(latchkey, 1);
    await process.stop();
    expect(receiver.received.map(({ about }) => about)).toEqual([keyId]);
  });
});

describeOnEveryStore("a store that loses that a refused event waits", (openStore) => {
  test("does not make the sender pass over the event", async () => {
    const receiver = await startReceiver(503);
    const { store, failOver } = failingOver(openStore()(), openStore()(), {
      isLost: ({ puts }) => puts.some(({ record }) => record.kind === "delivery"),
    });
    const endpoints = [endpointAt(receiver.url)];
    const process = sendingProcess(store, { endpoints, firstRetryMs: 3_600_000 });
    const { latchkey } = process;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await process.start();
    const refused = await latchkey.createKey({ apiId });
    await until(async () => (await deliveriesOf(latchkey).listEndpoints())[0]?.waiting === 1);
    await allRead(latchkey, 1);
    failOver();
    receiver.answerWith(204);
    await latchkey.createKey({ apiId });
    await until(() => receiver.received.filter(({ about }) => about === refused.keyId).length > 1);
    await allRead(latchkey, 1);
    await process.stop();
    expect(process.errors.map(String)).toEqual([
      "Error: webhooks: the store lost its latest changes; sending continues from the positions that it has",
    ]);
  });
});
