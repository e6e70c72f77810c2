import { expect, test } from "vitest";
import { describeOnEveryStore } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

describeOnEveryStore("a request that gets no answer", (openStore) => {
  test("does not keep events about other keys waiting, even if they come one by one", async () => {
    const open = openStore();
    // The key of the first event, which may arrive before the call that creates it has returned.
    let slow: string | null = null;
    const receiver = await startReceiver((response, { about }) => {
      slow ??= about;
      if (about !== slow) response.writeHead(204).end();
    });
    const options = { endpoints: [endpointAt(receiver.url)], timeoutMs: 60_000 };
    const process = sendingProcess(open(), options);
    const { latchkey } = process;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await process.start();
    const startedAt = performance.now();
    const created = [(await latchkey.createKey({ apiId })).keyId];
    for (let count = 1; count < 12; count += 1) {
      await until(() => receiver.received.length === count);
      // An event of another type takes no room either.
      await latchkey.createIdentity({ externalId: `northwind-${count}` });
      created.push((await latchkey.createKey({ apiId })).keyId);
    }
    await until(() => receiver.received.length === created.length);
    expect(performance.now() - startedAt).toBeLessThan(50_000);
    expect(receiver.received.map(({ about }) => about)).toEqual(created);
    await process.stop();
    slow = "";
    const next = sendingProcess(open(), options);
    await next.start();
    await until(() => receiver.received.length > created.length);
    await next.stop();
    expect(receiver.received.slice(created.length).map(({ about }) => about)).toEqual(
      created.slice(0, 1),
    );
    expect([...process.errors, ...next.errors]).toEqual([]);
  });
});
