import { expect, test } from "vitest";
import { describeOnMemoryOrAll } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

describeOnMemoryOrAll("an endpoint that the sending process does not have", (openStore) => {
  test("is reported once by the process that has it, and gets its events when that one sends", async () => {
    const open = openStore();
    const receiver = await startReceiver();
    const old = endpointAt(receiver.url);
    const added = endpointAt(`${receiver.url}/added`);
    const earlier = sendingProcess(open(), { endpoints: [old] });
    const { latchkey } = earlier;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await earlier.start();
    await latchkey.createKey({ apiId });
    await until(() => receiver.received.length === 1);
    const later = sendingProcess(open(), { endpoints: [old, added] }, { lookEveryMs: 1 });
    await later.start();
    // Nothing is reported while there is nothing to send.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(later.errors).toEqual([]);
    await latchkey.createKey({ apiId });
    await until(() => later.errors.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(later.errors.map(String)).toEqual([
      `Error: webhooks to ${new URL(receiver.url).origin}: the process that sends does not take its events (1 unread): does it have this endpoint?`,
    ]);
    await earlier.stop();
    await until(() => receiver.received.some(({ path }) => path === "/hooks/added"));
    await later.stop();
    expect(earlier.errors).toEqual([]);
  });
});
