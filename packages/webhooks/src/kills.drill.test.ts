import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey, type KeyStore, type Latchkey, LatchkeyError } from "@latchkey/core";
import { redisStore } from "@latchkey/redis";
import { describeWithRedis, PATIENT, startServer, type TestServer } from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type StorePlace, startWorker, type Worker } from "./testing/processes.js";
import { type Received, startReceiver } from "./testing/receiver.js";
import { endpointAt, expectSigned, readAll, until } from "./testing/sender.js";

/** Kills in one run of a drill: one at each moment. `LATCHKEY_FUZZ_RUNS=10`: ten times as many. */
const KILLS = 4 * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1");

function defineDrills(open: () => StorePlace & { readonly store: KeyStore }) {
  /** A latchkey with an API and keys, whose events are sent to a receiver from now on. */
  async function setUp(url: string) {
    const { store, ...place } = open();
    onTestFinished(() => store.close());
    const latchkey = createLatchkey({ store });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    // No answer of the receiver is too late, however long the machine stands still.
    const options = {
      endpoints: [endpointAt(url)],
      firstRetryMs: 20,
      timeoutMs: 60_000,
    };
    const workers: Worker[] = [];
    onTestFinished(async () => {
      for (const worker of workers) worker.signal("SIGKILL");
      await Promise.all(workers.map(({ ended }) => ended));
    });
    const start = async (leaseMs = 300) => {
      const worker = startWorker(place, { ...options, leaseMs });
      workers.push(worker);
      await worker.ready;
      return worker;
    };
    return { latchkey, apiId, start };
  }

  async function expectInOrder(latchkey: Latchkey, received: readonly Received[]) {
    const events = await readAll(latchkey);
    for (const id of new Set(received.map(({ about }) => about))) {
      const wanted = events.filter(({ keyId }) => keyId === id).map((event) => event.id);
      const sent = received.filter(({ about }) => about === id).map(({ eventId }) => eventId);
      expect([...new Set(sent)]).toEqual(wanted);
    }
    for (const one of received) expectSigned(one);
  }

  test("a process that is killed with -9 before, while and after a receiver answers loses nothing, and leaves each key in order", async () => {
    let kill: (() => void) | null = null;
    let kills = 0;
    const taken = new Set<string>();
    const receiver = await startReceiver((response, { eventId }) => {
      const moment = kills % 4;
      const status = kill !== null && moment === 1 ? 500 : 204;
      const answer = () => {
        if (status === 204) taken.add(eventId);
        response.writeHead(status).end();
      };
      if (kill === null) return answer();
      const killNow = kill;
      kill = null;
      // Before it answers; when it has answered; a moment later, while that is written down.
      if (moment === 0) killNow();
      answer();
      if (moment === 1 || moment === 2) setImmediate(killNow);
      if (moment === 3) setTimeout(killNow, kills);
    });
    const { latchkey, apiId, start } = await setUp(receiver.url);
    let worker = await start();
    const keyIds = await Promise.all(
      Array.from({ length: 4 }, async () => (await latchkey.createKey({ apiId })).keyId),
    );
    for (; kills < KILLS; kills += 1) {
      const { signal, ended } = worker;
      kill = () => signal("SIGKILL");
      for (const keyId of keyIds) await latchkey.updateKey({ keyId, name: `name ${kills}` });
      await ended;
      worker = await start();
    }
    kill = null;
    const events = await readAll(latchkey);
    const wanted = events.filter(({ keyId }) => keyId !== undefined);
    await until(() => wanted.every(({ id }) => taken.has(id)));
    expect(wanted).toHaveLength(4 * (1 + KILLS));
    await expectInOrder(latchkey, receiver.received);
  });

  test("a process that stands still beyond its lease and goes on sends nothing more, and takes nothing back", async () => {
    const held: (() => void)[] = [];
    const receiver = await startReceiver((response) => {
      const answer = () => response.writeHead(204).end();
      if (receiver.received.length === 1) held.push(answer);
      else answer();
    });
    const { latchkey, apiId, start } = await setUp(receiver.url);
    const first = await start();
    const { keyId } = await latchkey.createKey({ apiId });
    await until(() => held.length > 0);
    await stopUnlocked(first, () => latchkey.updateKey({ keyId, name: "one" }));
    // This one does not lose its lease in turn, however long the machine stands still.
    await start(600_000);
    await until(() => receiver.received.length === 3);
    // It hears of what it sent only now, and finds that it may not say so.
    first.signal("SIGCONT");
    held[0]?.();
    for (let count = 0; count < 5; count += 1)
      await latchkey.updateKey({ keyId, name: `name ${count}` });
    await until(() => receiver.received.length >= 8);
    const events = await readAll(latchkey);
    const ids = events.filter((event) => event.keyId === keyId).map(({ id }) => id);
    const sent = receiver.received.map(({ eventId }) => eventId);
    expect(sent).toEqual([ids[0], ...ids]);
  });
}

/** Stops a process, but not while it has the lock of the file, without which nothing can be changed. */
async function stopUnlocked(worker: Worker, change: () => Promise<unknown>): Promise<void> {
  for (;;) {
    worker.signal("SIGSTOP");
    try {
      await change();
      return;
    } catch (error) {
      if (!(error instanceof LatchkeyError) || error.outcome !== "not-applied") throw error;
      worker.signal("SIGCONT");
    }
  }
}

describe("webhooks on SQLite", () => {
  defineDrills(() => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-webhooks-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const place = join(folder, "keys.db");
    return { place, keyPrefix: "", store: sqliteStore(place) };
  });
});

describeWithRedis("webhooks on Redis", () => {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  defineDrills(() => {
    const place = server?.url ?? "";
    const keyPrefix = `test:${randomUUID()}`;
    return { place, keyPrefix, store: redisStore(place, { ...PATIENT, keyPrefix }) };
  });
});
