import { deliveriesOf, interceptStore, LatchkeyError } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

describeOnEveryStore("stop", (openStore) => {
  test("records what was sent: only requests that it ended are sent again", async () => {
    const open = openStore();
    let slow = "";
    const receiver = await startReceiver((response, { about }) => {
      if (about !== slow) response.writeHead(204).end();
    });
    const options = { endpoints: [endpointAt(receiver.url)] };
    const process = sendingProcess(open(), options);
    const { latchkey } = process;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await process.start();
    await process.stop();
    slow = (await latchkey.createKey({ apiId })).keyId;
    const creating = Array.from({ length: 150 }, () => latchkey.createKey({ apiId }));
    const created = (await Promise.all(creating)).map(({ keyId }) => keyId);
    await latchkey.updateKey({ keyId: slow, name: "slow" });
    await process.start();
    await until(() => receiver.received.length === 151);
    await process.stop();
    const { listEndpoints } = deliveriesOf(latchkey);
    expect(await listEndpoints()).toMatchObject([{ unread: 0, waiting: 2 }]);
    const ended = slow;
    slow = "";
    const next = sendingProcess(open(), options);
    await next.start();
    await until(() => receiver.received.length >= 153);
    await next.stop();
    const again = receiver.received.slice(151).map(({ about, type }) => [about, type]);
    expect(again).toEqual([
      [ended, "key.created"],
      [ended, "key.updated"],
    ]);
    expect(new Set(receiver.received.map(({ about }) => about))).toEqual(
      new Set([ended, ...created]),
    );
    expect(await listEndpoints()).toMatchObject([{ unread: 0, waiting: 0 }]);
    expect([...process.errors, ...next.errors]).toEqual([]);
  });

  test("does not begin the retry time of events that were not sent", async () => {
    const open = openStore();
    let [slow, asked] = ["", 0];
    const start = Date.UTC(2026, 2, 10);
    let now = start;
    const receiver = await startReceiver((response, { about }) => {
      if (about === slow && now === start) return;
      if (about === slow) asked += 1;
      response.writeHead(asked === 1 ? 500 : 204).end();
    });
    const options = { endpoints: [endpointAt(receiver.url)] };
    const process = sendingProcess(open(), options, { clock: () => now });
    const { latchkey } = process;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await process.start();
    await process.stop();
    slow = (await latchkey.createKey({ apiId })).keyId;
    await latchkey.createKey({ apiId });
    await process.start();
    await until(() => receiver.received.length === 2);
    await process.stop();
    now += 4 * 86_400_000;
    const next = sendingProcess(open(), options, { clock: () => now });
    await next.start();
    await until(() => asked === 1);
    // Step by step: the pause before the next try begins when the answer has arrived, which may be after any one step.
    await until(() => {
      now += 1_000;
      return asked === 2;
    });
    await next.stop();
    expect((await next.listDeadLetters()).deadLetters).toEqual([]);
    expect(next.errors).toEqual([]);
  });
});

test("writes that wait behind one that the store does not answer in time do not take as long each", async () => {
  const answers: (() => void)[] = [];
  const receiver = await startReceiver((response) => {
    answers.push(() => response.writeHead(503).end());
  });
  let [isAway, tried] = [false, 0];
  const store = interceptStore(memoryStore(), async ({ method }, run) => {
    if (!isAway || method !== "commit") return run();
    tried += 1;
    await new Promise((resolve) => setTimeout(resolve, 300));
    throw new LatchkeyError("STORE_UNAVAILABLE", "no answer in time", { outcome: "unknown" });
  });
  const process = sendingProcess(store, { endpoints: [endpointAt(receiver.url)] });
  const { apiId } = await process.latchkey.createApi({ name: "payments" });
  await process.start();
  for (let key = 0; key < 10; key += 1) await process.latchkey.createKey({ apiId });
  await until(() => answers.length === 10);
  isAway = true;
  for (const answer of answers) answer();
  await until(() => process.errors.length > 0);
  expect(tried).toBe(1);
  isAway = false;
  receiver.answerWith(204);
  await until(() => receiver.received.length >= 20);
});
