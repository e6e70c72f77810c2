import type { KeyStore } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

const DAY_MS = 86_400_000;

describeOnEveryStore("many keys that expire at the same instant", (openStore) => {
  test("do not hold up stop, and each expiry is noticed and sent once", async () => {
    const receiver = await startReceiver();
    let onDeadlines = () => undefined as unknown;
    const store = openStore()();
    const page: KeyStore["page"] = (workspaceId, want) => {
      if (want.kind === "deadline") onDeadlines();
      return store.page(workspaceId, want);
    };
    const watched = new Proxy(store, {
      get: (target, name) => {
        const method: unknown = name === "page" ? page : Reflect.get(target, name);
        return typeof method === "function" ? method.bind(target) : method;
      },
    });
    let now = Date.UTC(2026, 2, 10);
    const expires = now + 30 * DAY_MS;
    const endpoints = [endpointAt(receiver.url, { types: ["key.hasExpired"] })];
    const process = sendingProcess(watched, { endpoints }, { clock: () => now });
    const { latchkey } = process;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await process.start();
    const creating = Array.from({ length: 250 }, () => latchkey.createKey({ apiId, expires }));
    const keyIds = (await Promise.all(creating)).map(({ keyId }) => keyId);
    await process.stop();
    let stopping: Promise<void> | undefined;
    onDeadlines = () => {
      stopping ??= process.stop();
    };
    now = expires;
    await process.start();
    await until(() => stopping !== undefined);
    await stopping;
    const { events, cursor: after } = await latchkey.readEvents({ types: ["key.hasExpired"] });
    expect(events).toHaveLength(100);
    expect((await latchkey.readEvents({ types: ["key.hasExpired"], after })).events).toEqual([]);
    await process.start();
    await until(() => receiver.received.length >= 250);
    await process.stop();
    expect(await latchkey.notice()).toEqual({ noticed: 0 });
    expect(receiver.received.map(({ about }) => about).sort()).toEqual(keyIds.sort());
    expect(process.errors).toEqual([]);
  });
});
