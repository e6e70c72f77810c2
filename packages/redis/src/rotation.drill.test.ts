import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createLatchkey, type KeyStore, type Latchkey, type LatchkeyOptions } from "@latchkey/core";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { PATIENT, startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const WORKER = fileURLToPath(new URL("../dist/testing/rotator.worker.js", import.meta.url));
const ROOT = "lk:{ws_default}:";
const MINUTE_MS = 60_000;

describeWithServers("rotation in Redis", () => {
  let server: TestServer;
  let control: Redis;
  const stores: KeyStore[] = [];

  beforeAll(async () => {
    server = await startServer();
    control = server.connect();
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    control.disconnect();
    await server.remove();
  });

  function open(options: Pick<LatchkeyOptions, "clock"> = {}): Latchkey {
    const store = redisStore(server.url, PATIENT);
    stores.push(store);
    return createLatchkey({ store, ...options });
  }

  /** Counters that keys share, by their field. */
  async function sharedCounters(): Promise<Readonly<Record<string, string>>> {
    const fields = Object.entries(await control.hgetall(`${ROOT}w`));
    return Object.fromEntries(fields.filter(([field]) => field.endsWith(" u")));
  }

  test("of several processes that rotate one key, exactly one makes a successor", async () => {
    const latchkey = open();
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const workers = [1, 2, 3].map(() => startWorker(server.url));
    const answers = workers.map((worker) => linesOf(worker));
    const nextOfAll = () => Promise.all(answers.map(async (lines) => (await lines.next()).value));
    try {
      expect(await nextOfAll()).toEqual(["ready", "ready", "ready"]);
      for (let round = 0; round < 30; round += 1) {
        const { keyId } = await latchkey.createKey({ apiId, remaining: 5 });
        for (const worker of workers) worker.stdin?.write(`${keyId}\n`);
        const made = (await nextOfAll()).filter((answer) => answer !== "-");
        expect(made).toHaveLength(1);
        expect((await latchkey.getKey({ keyId })).rotatedTo).toBe(made[0]);
      }
      expect((await latchkey.listKeys({ apiId })).total).toBe(60);
    } finally {
      for (const worker of workers) worker.kill("SIGKILL");
      await latchkey.deleteApi({ apiId });
    }
  });

  test("a chain of rotations moves its counters once, and leaves nothing when its last key is deleted", async () => {
    // The clock stands still: otherwise the window of a minute would sometimes end in between.
    const now = Date.now();
    const latchkey = open({ clock: () => now });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const ratelimit = { limit: 10, duration: MINUTE_MS };
    const first = await latchkey.createKey({ apiId, remaining: 10, ratelimit });
    await latchkey.verifyKey({ key: first.key });
    const chain = [first];
    for (let rotation = 0; rotation < 3; rotation += 1) {
      const { keyId } = chain.at(-1) as typeof first;
      chain.push(await latchkey.rotateKey({ keyId, graceMs: MINUTE_MS }));
    }
    // Uses left, refilledAt, lastRefillAt, how many keys share them, and the window.
    const counters = expect.stringMatching(/^ {2}9 \d+ - 4 \S+=\d+:1$/);
    expect(await sharedCounters()).toEqual({ [`${first.keyId} u`]: counters });
    for (const [number, { key }] of chain.entries()) {
      expect(await latchkey.verifyKey({ key })).toMatchObject({
        valid: true,
        remaining: 8 - number,
        ratelimit: { remaining: 8 - number },
      });
    }
    for (const { keyId } of chain) {
      expect(Object.keys(await sharedCounters())).toHaveLength(1);
      await latchkey.deleteKey({ keyId });
    }
    expect(await sharedCounters()).toEqual({});
  });

  test("a key that is rotated and deleted at once leaves no counters behind, whichever comes first", async () => {
    const latchkeys = [open(), open()] as const;
    const { apiId } = await latchkeys[0].createApi({ name: "payments" });
    const outcomes = new Set<boolean>();
    // One of the two begins this many round trips after the other; at the extremes it waits until the other is over.
    for (const lead of Array.from({ length: 200 }, (_, round) => (round % 9) - 4)) {
      const { keyId } = await latchkeys[0].createKey({ apiId, remaining: 5 });
      const rotate = () => latchkeys[0].rotateKey({ keyId }).catch(() => null);
      const remove = () => latchkeys[1].deleteKey({ keyId }).then(() => undefined);
      const [first, second] = lead < 0 ? [remove, rotate] : [rotate, remove];
      const earlier = first();
      if (Math.abs(lead) === 4) await earlier;
      for (let turn = Math.abs(lead); turn > 0; turn -= 1) await control.echo("turn");
      const answers = await Promise.all([earlier, second()]);
      const successor = answers.find((answer) => answer !== undefined) ?? null;
      outcomes.add(successor === null);
      if (successor !== null) await latchkeys[0].deleteKey({ keyId: successor.keyId });
      expect(await sharedCounters()).toEqual({});
    }
    expect(outcomes.size).toBe(2);
  });
});

function startWorker(url: string): ChildProcess {
  return spawn(process.execPath, [WORKER, url], { stdio: ["pipe", "pipe", "inherit"] });
}

function linesOf({ stdout }: ChildProcess): AsyncIterator<string> {
  if (stdout === null) throw new Error("the process has no output");
  return createInterface({ input: stdout })[Symbol.asyncIterator]();
}
