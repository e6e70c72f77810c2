import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";
import { startReceiver } from "./testing/receiver.js";
import { createWebhooks } from "./webhooks.js";

test("smoke", async () => {
  const latchkey = createLatchkey({ store: memoryStore() });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const receiver = await startReceiver();
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const webhooks = createWebhooks(latchkey, {
    endpoints: [{ url: receiver.url, types: ["key.created", "key.updated"], secret, allow: ["127.0.0.0/8"] }],
    firstRetryMs: 10,
    retryForMs: 200,
  });
  void webhooks.start();
  const { keyId } = await latchkey.createKey({ apiId });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 5000);
  console.log(receiver.received[0]);
  new Webhook(secret).verify(receiver.received[0]!.body, receiver.received[0]!.headers);
  receiver.answerWith(500);
  await latchkey.updateKey({ keyId, name: "one" });
  await latchkey.updateKey({ keyId, name: "two" });
  await vi.waitFor(async () => expect((await webhooks.listDeadLetters()).deadLetters).toHaveLength(2), 5000);
  const { deadLetters } = await webhooks.listDeadLetters();
  console.log(deadLetters, receiver.received.length);
  receiver.answerWith(204);
  const n = receiver.received.length;
  await webhooks.redeliver({ deadLetterId: deadLetters[0]!.deadLetterId });
  await vi.waitFor(() => expect(receiver.received.length).toBe(n + 1), 5000);
  console.time("stop"); await webhooks.stop(); console.timeEnd("stop");
  console.time("many");
  receiver.answerWith(204);
  await webhooks.start();
  for (let i = 0; i < 1000; i++) await latchkey.createKey({ apiId });
  await vi.waitFor(() => expect(receiver.received.length).toBe(n + 1001), 20000);
  console.timeEnd("many");
  await webhooks.stop();
});
