import { createLatchkey, interceptStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { createWebhooks } from "./index.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

test("start is refused without an audit log, and can be called again", async () => {
  const latchkey = createLatchkey({ store: memoryStore(), auditLog: false });
  const webhooks = createWebhooks(latchkey, { endpoints: [endpointAt("http://127.0.0.1/")] });
  for (let count = 0; count < 2; count += 1)
    await expect(webhooks.start()).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
      reason: "no-audit-log",
    });
  await webhooks.stop();
});

test("an endpoint begins with the first event after start was called, even if the store is slow to find the end of the log", async () => {
  const receiver = await startReceiver();
  const store = interceptStore(memoryStore(), async ({ method }, run) => {
    if (method === "page") await new Promise((resolve) => setTimeout(resolve, 50));
    return run();
  });
  const process = sendingProcess(store, { endpoints: [endpointAt(receiver.url)] });
  const { apiId } = await process.latchkey.createApi({ name: "payments" });
  await process.latchkey.createKey({ apiId });
  const started = process.start();
  const { keyId } = await process.latchkey.createKey({ apiId });
  await process.latchkey.workspace("ws_northwind").createApi({ name: "tides" });
  await started;
  await until(() => receiver.received.length > 0);
  expect(receiver.received.map(({ about }) => about)).toEqual([keyId]);
});

test("changes succeed while the end of the log cannot be found", async () => {
  const store = interceptStore(memoryStore(), ({ method }, run) =>
    method === "page" ? Promise.reject(new Error("no disk")) : run(),
  );
  const process = sendingProcess(store, { endpoints: [endpointAt("http://127.0.0.1/")] });
  const { apiId } = await process.latchkey.createApi({ name: "payments" });
  const started = expect(process.start()).rejects.toThrow("no disk");
  const { keyId } = await process.latchkey.createKey({ apiId });
  await started;
  expect((await process.latchkey.getKey({ keyId })).id).toBe(keyId);
});

test("start and stop can be called in any order, any number of times", async () => {
  const receiver = await startReceiver();
  const process = sendingProcess(memoryStore(), { endpoints: [endpointAt(receiver.url)] });
  const { apiId } = await process.latchkey.createApi({ name: "payments" });
  await process.stop();
  await Promise.all([process.start(), process.start()]);
  await Promise.all([process.stop(), process.stop(), process.start()]);
  await process.latchkey.createKey({ apiId });
  await until(() => receiver.received.length === 1);
  const [stopped] = [process.stop(), process.start().then(() => process.stop())];
  await stopped;
  await process.stop();
  await process.latchkey.createKey({ apiId });
  await process.start();
  await until(() => receiver.received.length === 2);
  expect(process.errors).toEqual([]);
});

test.each([
  [["stop", "start", "stop"], false],
  [["stop", "start", "stop", "start"], true],
  [["start", "stop", "start", "stop"], false],
  [["start", "stop", "stop", "start"], true],
] as const)("of concurrent calls, the last one decides: %j", async (calls, isSending) => {
  const receiver = await startReceiver();
  const process = sendingProcess(memoryStore(), { endpoints: [endpointAt(receiver.url)] });
  const { apiId } = await process.latchkey.createApi({ name: "payments" });
  await process.start();
  await Promise.all(calls.map((call) => process[call]()));
  await process.latchkey.createKey({ apiId });
  if (isSending) await until(() => receiver.received.length === 1);
  else await new Promise((resolve) => setTimeout(resolve, 200));
  expect(receiver.received).toHaveLength(isSending ? 1 : 0);
});

test("stop does not wait for a receiver that hangs, and the event is sent again later", async () => {
  const receiver = await startReceiver(() => undefined);
  const options = { endpoints: [endpointAt(receiver.url)], timeoutMs: 60_000 };
  const process = sendingProcess(memoryStore(), options);
  const { apiId } = await process.latchkey.createApi({ name: "payments" });
  await process.start();
  await process.latchkey.createKey({ apiId });
  await until(() => receiver.received.length === 1);
  const stoppedAt = performance.now();
  await process.stop();
  expect(performance.now() - stoppedAt).toBeLessThan(30_000);
  receiver.answerWith(204);
  await process.start();
  await until(() => receiver.received.length === 2);
  const [first, second] = receiver.received;
  expect(second?.eventId).toBe(first?.eventId);
});

test("a receiver that asks for a pause of a day gets it, even from a process whose clock is behind", async () => {
  const receiver = await startReceiver((response) =>
    response.writeHead(503, { "retry-after": "86400" }).end(),
  );
  const options = { endpoints: [endpointAt(receiver.url)] };
  const store = memoryStore();
  const first = sendingProcess(store, options);
  const { apiId } = await first.latchkey.createApi({ name: "payments" });
  await first.start();
  await first.latchkey.createKey({ apiId });
  await until(() => receiver.received.length === 1);
  await first.stop();
  const second = sendingProcess(store, options, { clock: () => Date.now() - 60_000 });
  await second.start();
  await second.latchkey.createKey({ apiId });
  await until(() => receiver.received.length >= 2);
  const ids = receiver.received.map(({ eventId }) => eventId);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a store that fails for a while is reported, and sending continues afterwards", async () => {
  const receiver = await startReceiver();
  let isFailing = false;
  const store = interceptStore(memoryStore(), (_, run) =>
    isFailing ? Promise.reject(new Error("no disk")) : run(),
  );
  const process = sendingProcess(store, { endpoints: [endpointAt(receiver.url)] });
  const { apiId } = await process.latchkey.createApi({ name: "payments" });
  await process.start();
  await process.latchkey.createKey({ apiId });
  await until(() => receiver.received.length === 1);
  isFailing = true;
  await until(() => process.errors.some((error) => String(error).includes("no disk")));
  isFailing = false;
  await process.latchkey.createKey({ apiId });
  await until(() => receiver.received.length >= 2);
  expect(receiver.received.length).toBeLessThanOrEqual(3);
});

test("a dead letter of an endpoint that was removed is listed without its URL, and cannot be sent again", async () => {
  const receiver = await startReceiver(410);
  const store = memoryStore();
  const process = sendingProcess(store, { endpoints: [endpointAt(receiver.url)] });
  const { apiId } = await process.latchkey.createApi({ name: "payments" });
  await process.start();
  await process.latchkey.createKey({ apiId });
  await until(async () => (await process.listDeadLetters()).deadLetters.length === 1);
  await process.stop();
  const other = sendingProcess(store, { endpoints: [endpointAt("http://127.0.0.1/other")] });
  const [dead] = (await other.listDeadLetters()).deadLetters;
  expect(dead).not.toHaveProperty("url");
  const deadLetterId = dead?.deadLetterId ?? "";
  await expect(other.redeliver({ deadLetterId })).rejects.toMatchObject({
    code: "PRECONDITION_FAILED",
  });
  for (const input of [undefined, null, {}, { deadLetterId: "" }, { deadLetterId: 7 }])
    await expect(other.redeliver(input as never)).rejects.toMatchObject({ code: "BAD_REQUEST" });
  for (const limit of [0, 101, 1.5, "2", null])
    await expect(other.listDeadLetters({ limit } as never)).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
  await expect(other.redeliver({ deadLetterId: "dlv_nothing" })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  await process.redeliver({ deadLetterId });
  await process.redeliver({ deadLetterId });
  expect((await process.listDeadLetters()).deadLetters).toEqual([]);
});

test("an endpoint that was removed and added again gets the events that it missed; a new one does not", async () => {
  const [one, other] = [await startReceiver(), await startReceiver()];
  const store = memoryStore();
  const first = sendingProcess(store, { endpoints: [endpointAt(one.url)] });
  const { latchkey } = first;
  const { apiId } = await latchkey.createApi({ name: "payments" });
  await first.start();
  await first.stop();
  const second = sendingProcess(store, { endpoints: [endpointAt(other.url)] });
  await second.start();
  const { keyId } = await latchkey.createKey({ apiId });
  await until(() => other.received.length === 1);
  await second.stop();
  const both = sendingProcess(store, { endpoints: [endpointAt(one.url), endpointAt(other.url)] });
  await both.start();
  await until(() => one.received.length === 1);
  expect(one.received[0]?.about).toBe(keyId);
  await latchkey.deleteKey({ keyId });
  await until(() => one.received.length === 2 && other.received.length === 2);
});

test("each workspace has its own sender, endpoints and dead letters", async () => {
  const receiver = await startReceiver(410);
  const latchkey = createLatchkey({ store: memoryStore(), onError: () => undefined });
  const endpoints = [endpointAt(receiver.url)];
  const [ours, theirs] = [latchkey, latchkey.workspace("ws_northwind")].map((each) =>
    createWebhooks(each, { endpoints }),
  );
  await Promise.all([ours?.start(), theirs?.start()]);
  const { apiId } = await latchkey.createApi({ name: "payments" });
  await latchkey.createKey({ apiId });
  await until(async () => (await ours?.listDeadLetters())?.deadLetters.length === 1);
  expect((await theirs?.listDeadLetters())?.deadLetters).toEqual([]);
  await Promise.all([ours?.stop(), theirs?.stop()]);
});
