import { type DeliveryState, deliveriesOf, type KeyStore } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, readAll, sendingProcess, until } from "./testing/sender.js";

const COUNT = 250;

/** Counts the commits that write deliveries which wait to be sent. */
function countingWaits(store: KeyStore) {
  const waits = { commits: 0 };
  const commit: KeyStore["commit"] = (workspaceId, change) => {
    const isWait = change.puts.some(
      ({ record: { kind, body } }) =>
        kind === "delivery" && JSON.stringify(body).includes('"pending"'),
    );
    if (isWait) waits.commits += 1;
    return store.commit(workspaceId, change);
  };
  return { waits, store: { ...store, commit } };
}

describeOnEveryStore("many dead letters to send again", (openStore) => {
  test("are taken a page at a time, not one by one while other events wait", async () => {
    const open = openStore();
    const receiver = await startReceiver(204);
    const endpoints = [endpointAt(receiver.url, { types: ["api.created"] })];
    const { latchkey, start, stop } = sendingProcess(open(), { endpoints });
    await start();
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await until(() => receiver.received.length === 1);
    await stop();
    for (let at = 0; at < COUNT; at += 1) await latchkey.createKey({ apiId });
    const events = (await readAll(latchkey)).filter(({ type }) => type === "key.created");
    const deliveries = deliveriesOf(latchkey);
    const endpointId = (await deliveries.listEndpoints())[0]?.endpointId ?? "";
    const times = { tries: 1, since: latchkey.now(), at: latchkey.now(), failure: "500" };
    const puts = events.map(({ id: eventId, resourceId: lane }, at): DeliveryState => {
      return { endpointId, eventId, number: at + 1, lane, state: "asked", ...times };
    });
    for (let from = 0; from < COUNT; from += 50)
      await deliveries.write((sender) => ({ ...sender }), { puts: puts.slice(from, from + 50) });

    const { waits, store } = countingWaits(open());
    const sending = sendingProcess(store, { endpoints });
    await sending.start();
    await until(() => receiver.received.length === 1 + COUNT);
    expect(waits.commits).toBe(3);
    await until(async () => (await deliveries.askedEndpoints()).endpointIds.size === 0);
    expect(sending.errors).toEqual([]);
  });
});
