import { deliveriesOf } from "@latchkey/core";
import { expect, test } from "vitest";
import { dyingStore } from "./testing/dying-store.js";
import { describeOnEveryStore } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

const DAY_MS = 86_400_000;

describeOnEveryStore("after a clock that was ahead is set back", (openStore) => {
  test("a refused event is sent again, and requests are stamped with the current time", async () => {
    let ahead = 3 * DAY_MS;
    const receiver = await startReceiver(500);
    const process = sendingProcess(
      openStore()(),
      { endpoints: [endpointAt(receiver.url)], firstRetryMs: 60_000 },
      { clock: () => Date.now() + ahead },
    );
    const { apiId } = await process.latchkey.createApi({ name: "payments" });
    await process.start();
    const { keyId } = await process.latchkey.createKey({ apiId });
    await process.latchkey.updateKey({ keyId, name: "named" });
    const { listEndpoints } = deliveriesOf(process.latchkey);
    await until(async () => (await listEndpoints())[0]?.waiting === 2);
    receiver.answerWith(204);
    ahead = 0;
    await until(() => receiver.received.length === 3);
    const [first, again, next] = receiver.received;
    expect(again?.eventId).toBe(first?.eventId);
    expect([again?.type, next?.type]).toEqual(["key.created", "key.updated"]);
    for (const one of [again, next]) {
      const at = Number(one?.headers["webhook-timestamp"]) * 1_000;
      expect(Math.abs(at - Date.now())).toBeLessThan(DAY_MS);
    }
  });

  test("a process takes over from a killed one when that one's lease is over, not only when the clock has caught up", async () => {
    let ahead = DAY_MS;
    const clock = () => Date.now() + ahead;
    const open = openStore();
    const receiver = await startReceiver();
    const options = { endpoints: [endpointAt(receiver.url)], leaseMs: 500 };
    const dying = dyingStore(open());
    const first = sendingProcess(dying.store, options, { clock });
    const { apiId } = await first.latchkey.createApi({ name: "payments" });
    await first.start();
    await first.latchkey.createKey({ apiId });
    await until(() => receiver.received.length === 1);
    const second = sendingProcess(open(), options, { clock });
    await second.start();
    // Time for it to see the current sender, by the clock that is ahead.
    await new Promise((resolve) => setTimeout(resolve, 100));
    dying.die();
    ahead = 0;
    const { keyId } = await second.latchkey.createKey({ apiId });
    await until(() => receiver.received.some(({ about }) => about === keyId));
  });
});
