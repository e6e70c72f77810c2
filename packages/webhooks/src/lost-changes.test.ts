import { deliveriesOf } from "@latchkey/core";
import { failingOver } from "@latchkey/core/testing";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

describeOnEveryStore("a store that loses its latest changes while events are sent", (openStore) => {
  test("does not make the sender send again what was recorded as sent before, and this is reported once", async () => {
    const receiver = await startReceiver();
    const { store, cut, failOver } = failingOver(openStore()(), openStore()());
    const process = sendingProcess(store, { endpoints: [endpointAt(receiver.url)] });
    const { latchkey } = process;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await process.start();
    const { listEndpoints } = deliveriesOf(latchkey);
    const created: string[] = [];
    const createKeys = async (count: number) => {
      for (let at = 0; at < count; at += 1)
        created.push((await latchkey.createKey({ apiId })).keyId);
    };
    const areRecorded = () => until(async () => (await listEndpoints())[0]?.unread === 0);
    await createKeys(3);
    await areRecorded();
    cut();
    await createKeys(1);
    await areRecorded();
    failOver();
    await createKeys(1);
    await until(() => receiver.received.some(({ about }) => about === created.at(-1)));
    await areRecorded();
    await process.stop();
    // Events of different keys may overtake each other.
    const about = receiver.received.map((one) => one.about);
    expect(about.toSorted()).toEqual(created.toSorted());
    expect(process.errors.map(String)).toEqual([
      `Error: webhooks to ${new URL(receiver.url).origin}: the store lost its latest changes; sending continues from the position that it has`,
    ]);
  });
});
