import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey, type KeyStore, type Latchkey, LatchkeyError } from "@latchkey/core";
import { postgresStore } from "@latchkey/postgres";
import {
  describeWithServers,
  PATIENT as PATIENT_POSTGRES,
  startServer as startPostgres,
} from "@latchkey/postgres/testing";
import { redisStore } from "@latchkey/redis";
import { describeWithRedis, PATIENT, startServer, type TestServer } from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type StorePlace, startWorker, type Worker } from "./testing/processes.js";
import { type Received, startReceiver } from "./testing/receiver.js";
import { endpointAt, expectSigned, readAll, until } from "./testing/sender.js";

/** Kills in one run: one at each of four moments. `LATCHKEY_FUZZ_RUNS=10`: ten times as many. */
const KILLS = 4 * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1");

function defineDrills(open: () => StorePlace & { readonly store: KeyStore }) {
  /** A latchkey with an API, and a function that starts a process that sends its events to `url`. */
  async function setUp(url: string) {
    const { store, ...place } = open();
    onTestFinished(() => store.close());
    const latchkey = createLatchkey({ store });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    // Long, so that no response is too late, even if the machine stalls.
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

  test("a process killed with -9 before, while or after a receiver answers loses no event, and keeps each key in order", async () => {
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
      // Killed before the answer (0), right after it (1, 2), or a moment later, while the result is being stored (3).
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

  test("a process that is suspended beyond its lease and continues sends nothing more, and undoes nothing", async () => {
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
    // A long lease, so that this process does not lose it in turn if the machine stalls.
    await start(600_000);
    await until(() => receiver.received.length === 3);
    // The first process gets its response only now, and must not store the result: it has lost the lease.
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

/** Suspends a process at a moment when it does not hold the lock of the database file, so that `change` succeeds. */
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

describeWithServers("webhooks on PostgreSQL", () => {
  let server: Awaited<ReturnType<typeof startPostgres>> | undefined;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.remove());

  defineDrills(() => {
    const place = server?.url ?? "";
    const keyPrefix = `test_${randomUUID().replaceAll("-", "_")}`;
    const store = postgresStore(place, { ...PATIENT_POSTGRES, schema: keyPrefix });
    return { place, keyPrefix, store };
  });
});
