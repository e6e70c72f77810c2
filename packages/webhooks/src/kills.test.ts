import type { Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { dyingStore } from "./testing/dying-store.js";
import { describeOnEveryStore } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, readAll, sendingProcess, until } from "./testing/sender.js";

/** A process dies before every fifth call of the store; with `LATCHKEY_FUZZ_RUNS=5`, before every call. */
const STRIDE = Math.ceil(5 / Number(process.env.LATCHKEY_FUZZ_RUNS ?? 1));

/** Creates three keys, and changes each. */
async function changeKeys(latchkey: Latchkey, apiId: string): Promise<readonly string[]> {
  const keyIds: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { keyId } = await latchkey.createKey({ apiId });
    await latchkey.updateKey({ keyId, name: "named" });
    keyIds.push(keyId);
  }
  return keyIds;
}

describeOnEveryStore("a process that sends and loses its lease", (openStore) => {
  test("after giving up an event leaves it a dead letter: it is not sent after later events", async () => {
    const store = openStore()();
    const seen: string[] = [];
    let [first, waiting] = ["", ""];
    let isCalm = false;
    const receiver = await startReceiver((response, { eventId, about, type }) => {
      seen.push(eventId);
      if (!isCalm && about === waiting) return;
      const isUnwanted = about === first && type === "key.created";
      response.writeHead(isUnwanted ? (isCalm ? 500 : 410) : 204).end();
    });
    let skipped = 0;
    const openProcess = (through = store) =>
      sendingProcess(
        through,
        { endpoints: [endpointAt(receiver.url)], leaseMs: 30_000, retryForMs: 60_000 },
        { clock: () => Date.now() + skipped },
      );
    const watching = openProcess();
    const { latchkey } = watching;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await watching.start();
    await watching.stop();
    // Events about this key get no response, so the position stays before all later events.
    waiting = (await latchkey.createKey({ apiId })).keyId;
    first = (await latchkey.createKey({ apiId })).keyId;
    await latchkey.updateKey({ keyId: first, name: "named" });
    const events = (await readAll(latchkey)).filter(({ keyId }) => keyId === first);
    const [unwanted, next] = events.map(({ id }) => id);
    const dying = dyingStore(store);
    await openProcess(dying.store).start();
    await until(() => seen.includes(next as string));
    dying.die();
    isCalm = true;
    seen.length = 0;
    skipped += 30_000;
    // The last event: once it has been sent, all others have been sent, or never will be.
    await latchkey.updateKey({ keyId: waiting, name: "named" });
    const last = (await readAll(latchkey)).at(-1)?.id as string;
    await openProcess().start();
    await until(() => seen.includes(last) && seen.includes(next as string));
    expect(seen).not.toContain(unwanted);
    const { deadLetters } = await watching.listDeadLetters();
    expect(deadLetters).toEqual([expect.objectContaining({ eventId: unwanted })]);
  });
});

describeOnEveryStore("a process that sends and is killed", (openStore) => {
  test("before any of its calls of the store loses no event, and keeps each key in order", async () => {
    const store = openStore()();
    // The first event of a key is refused once; all events about the third key are refused for good.
    const refused = new Set<string>();
    let unwanted: string | undefined;
    const receiver = await startReceiver((response, { eventId, type, about }) => {
      const isFirst = type === "key.created" && !refused.has(eventId);
      refused.add(eventId);
      response.writeHead(about === unwanted ? 410 : isFirst ? 500 : 204).end();
    });
    const endpoints = [endpointAt(receiver.url)];
    let skipped = 0;
    const openProcess = (through = store) =>
      sendingProcess(
        through,
        { endpoints, leaseMs: 5_000, firstRetryMs: 1 },
        { clock: () => Date.now() + skipped },
      );
    const watching = openProcess();
    const { latchkey } = watching;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await watching.start();
    await watching.stop();
    let hasEnded = false;
    let givenUp = 0;
    for (let before = 0; !hasEnded; before += STRIDE) {
      expect(before).toBeLessThan(200);
      const keyIds = await changeKeys(latchkey, apiId);
      unwanted = keyIds[2];
      givenUp += 2;
      const areSent = async () => {
        const isTaken = (id: string) =>
          receiver.received.some(({ about, type }) => about === id && type === "key.updated");
        const { deadLetters } = await watching.listDeadLetters();
        return keyIds.slice(0, 2).every(isTaken) && deadLetters.length === givenUp;
      };
      const dying = dyingStore(store, before);
      const first = openProcess(dying.store);
      const hasStarted = await first.start().then(
        () => true,
        () => false,
      );
      await until(async () => !hasStarted || first.errors.length > 0 || (await areSent()));
      hasEnded = hasStarted && !first.errors.some((error) => String(error).includes("killed"));
      dying.die();
      await first.stop();
      // The next process takes over when the lease is over.
      skipped += 5_000;
      const next = openProcess();
      await next.start();
      await until(areSent);
      await next.stop();
    }
    const events = await readAll(latchkey);
    for (const id of new Set(receiver.received.map(({ about }) => about))) {
      const wanted = events.filter(({ keyId }) => keyId === id).map((event) => event.id);
      const sent = receiver.received.filter(({ about }) => about === id);
      expect([...new Set(sent.map(({ eventId }) => eventId))]).toEqual(wanted);
    }
  });
});
