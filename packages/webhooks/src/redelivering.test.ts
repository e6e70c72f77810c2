import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

test("the process that sends sends a dead letter again at once, not only when it next looks for new events", async () => {
  const receiver = await startReceiver(410);
  const sender = sendingProcess(
    memoryStore(),
    { endpoints: [endpointAt(receiver.url)] },
    { lookEveryMs: 2_000 },
  );
  const { latchkey } = sender;
  const { apiId } = await latchkey.createApi({ name: "maps" });
  await sender.start();
  await latchkey.createKey({ apiId });
  await until(async () => (await sender.listDeadLetters()).deadLetters.length === 1);
  const [letter] = (await sender.listDeadLetters()).deadLetters;

  receiver.answerWith(204);
  const askedAt = performance.now();
  await sender.redeliver({ deadLetterId: letter?.deadLetterId ?? "" });
  await until(() => receiver.received.length === 2);
  expect(performance.now() - askedAt).toBeLessThan(1_000);
});
