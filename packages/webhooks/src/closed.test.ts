import type { KeyStore } from "@latchkey/core";
import { expect, test } from "vitest";
import { dyingStore } from "./testing/dying-store.js";
import { describeOnEveryStore } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

/** A store that one process closes, and others still use: closing memory would close it for all. */
function closable(open: KeyStore) {
  const { store, calls, die } = dyingStore(open);
  const close = async () => die();
  const get = (_: KeyStore, name: string | symbol): unknown =>
    name === "close" ? close : Reflect.get(store, name);
  return { store: new Proxy(store, { get }), calls };
}

describeOnEveryStore("a latchkey that is closed while events are sent", (openStore) => {
  test("ends the sender and says so, and another process sends what is left", async () => {
    const open = openStore();
    const receiver = await startReceiver((response) => {
      setTimeout(() => response.writeHead(204).end(), 20);
    });
    const options = { endpoints: [endpointAt(receiver.url)], leaseMs: 500 };
    const { store, calls } = closable(open());
    const process = sendingProcess(store, options);
    const { latchkey } = process;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await process.start();
    const creating = Array.from({ length: 30 }, () => latchkey.createKey({ apiId }));
    const keyIds = (await Promise.all(creating)).map(({ keyId }) => keyId);
    await until(() => receiver.received.length > 0);
    await latchkey.close();
    await until(() => process.errors.length > 0);
    const before = calls();
    await expect(process.start()).rejects.toThrow("killed");
    await process.stop();
    expect(process.errors.map(String)).toEqual([
      'Error: webhooks: sending ended because the latchkey was closed. Call "stop" before "close"',
    ]);
    expect(calls()).toBe(before);
    const other = sendingProcess(open(), options);
    await other.start();
    const sent = () => new Set(receiver.received.map(({ about }) => about));
    await until(() => sent().size === keyIds.length);
    expect([...sent()].sort()).toEqual(keyIds.sort());
  });

  test("ends a sender that waits for its turn too", async () => {
    const open = openStore();
    const receiver = await startReceiver();
    const options = { endpoints: [endpointAt(receiver.url)] };
    const first = sendingProcess(open(), options);
    const { apiId } = await first.latchkey.createApi({ name: "payments" });
    await first.start();
    await first.latchkey.createKey({ apiId });
    await until(() => receiver.received.length === 1);
    const waiting = sendingProcess(closable(open()).store, options);
    await waiting.start();
    await waiting.latchkey.close();
    await until(() => waiting.errors.length > 0);
    expect(waiting.errors.map(String)).toEqual([expect.stringContaining("latchkey was closed")]);
  });
});
