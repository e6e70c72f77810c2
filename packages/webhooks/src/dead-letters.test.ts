import { deliveriesOf, EMPTY_CHANGE, type KeyStore, type LoadedRecord } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, sendingProcess, until } from "./testing/sender.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOON = Date.UTC(2026, 2, 10, 12);

describeOnEveryStore("dead letters", (openStore) => {
  /** A process whose receiver refuses everything for good, so that it gives up `count` events. */
  async function setUp(count: number, bounds: object = {}) {
    const open = openStore();
    const receiver = await startReceiver(410);
    const options = { endpoints: [endpointAt(receiver.url)], ...bounds };
    const time = { now: NOON };
    const process = sendingProcess(open(), options, { clock: () => time.now, lookEveryMs: 1 });
    const { latchkey } = process;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await process.start();
    const keyIds: string[] = [];
    const fail = async (more: number) => {
      const before = receiver.received.length;
      for (let at = 0; at < more; at += 1) {
        time.now += 1;
        keyIds.push((await latchkey.createKey({ apiId })).keyId);
      }
      await until(() => receiver.received.length === before + more);
    };
    await fail(count);
    const dead = async () => {
      const { deadLetters } = await process.listDeadLetters();
      return deadLetters.map(({ event }) => event?.keyId);
    };
    return { open, receiver, options, process, latchkey, time, keyIds, dead, fail };
  }

  test("are deleted when they are too old, or too many, the earliest first", async () => {
    const { process, time, keyIds, dead, fail } = await setUp(4, { maxDeadLetters: 3 });
    await until(() => process.errors.length > 1);
    expect(await dead()).toEqual(keyIds.slice(1));
    expect(process.errors.map(String)).toContainEqual(
      expect.stringMatching(
        / was given up after one try, which failed with 410; it is a dead letter$/,
      ),
    );
    expect(process.errors.map(String)).toContain(
      "Error: webhooks: the 1 earliest dead letters were deleted: there were more than 3",
    );
    time.now += 20 * DAY_MS;
    await fail(1);
    await until(async () => (await dead())[0] === keyIds[2]);
    time.now += 11 * DAY_MS;
    await until(async () => (await dead()).length === 1);
    expect(await dead()).toEqual(keyIds.slice(4));
  });

  test("can be deleted up to an instant, except those being sent again", async () => {
    const { process, latchkey, time, keyIds, dead, fail } = await setUp(2);
    await until(async () => (await dead()).length === 2);
    const [first] = (await process.listDeadLetters()).deadLetters;
    time.now += DAY_MS;
    await fail(1);
    await until(async () => (await dead()).length === 3);
    await process.stop();
    await process.redeliver({ deadLetterId: first?.deadLetterId ?? "" });
    expect(await process.pruneDeadLetters({ before: NOON })).toEqual({ deleted: 0 });
    const before = new Date(NOON + DAY_MS);
    expect(await process.pruneDeadLetters({ before })).toEqual({ deleted: 1 });
    expect(await dead()).toEqual([keyIds[2]]);
    expect(await process.pruneDeadLetters({ before })).toEqual({ deleted: 0 });
    // The one being sent again still exists: the next refusal makes it a dead letter again.
    await process.start();
    await until(async () => (await dead()).length === 2);
    expect(await dead()).toEqual([keyIds[0], keyIds[2]]);
    for (const wrong of [{}, { before: "yesterday" }, { before: time.now + 1 }])
      await expect(process.pruneDeadLetters(wrong as never)).rejects.toMatchObject({
        code: "BAD_REQUEST",
        issues: [{ path: "before" }],
      });
    expect(await latchkey.notice()).toEqual({ noticed: 0 });
  });

  test("are kept while their endpoint could still read the event from the log: it would be sent again", async () => {
    const { process, latchkey, dead } = await setUp(3);
    await until(async () => (await dead()).length === 3);
    await process.stop();
    const deliveries = deliveriesOf(latchkey);
    const { cursor } = await latchkey.readEvents({ limit: 1 });
    // As if the sender had been killed before it wrote its position.
    await deliveries.write((sender) => ({
      ...sender,
      endpoints: sender.endpoints.map((place) => ({ ...place, cursor })),
    }));
    const [state] = await deliveries.listEndpoints();
    expect(state).toMatchObject({ unread: 3, waiting: 0 });
    expect(await deliveries.pruneDead({ since: latchkey.now() + 1, most: 1 })).toEqual({
      old: 0,
      tooMany: 0,
    });
    expect(await dead()).toHaveLength(3);
  });

  test("to send again to an endpoint that was removed stay dead letters, and this is reported", async () => {
    const { open, process, receiver, options, keyIds, dead } = await setUp(2);
    await until(async () => (await dead()).length === 2);
    await process.stop();
    const { deadLetters } = await process.listDeadLetters();
    // As the command line does, which does not know the endpoints.
    for (const { deadLetterId } of deadLetters) await process.redeliver({ deadLetterId });
    expect(await dead()).toEqual([]);
    const before = receiver.received.length;
    const endpoints = [endpointAt(`${receiver.url}other`, { types: ["api.created"] })];
    const other = sendingProcess(open(), { endpoints }, { clock: () => NOON + DAY_MS });
    await other.start();
    await until(async () => (await dead()).length === 2);
    await until(() => other.errors.length > 0);
    expect(other.errors.map(String)).toEqual([
      'Error: webhooks: 2 dead letters are not sent again: "endpoints" has no such endpoint',
    ]);
    expect((await process.listDeadLetters()).deadLetters).toEqual(deadLetters);
    await other.stop();
    expect(receiver.received).toHaveLength(before);
    const [first] = deadLetters;
    await process.redeliver({ deadLetterId: first?.deadLetterId ?? "" });
    receiver.answerWith(204);
    const again = sendingProcess(open(), options, { clock: () => NOON + DAY_MS });
    await again.start();
    await until(() => receiver.received.length > before);
    expect(receiver.received.at(-1)?.about).toBe(keyIds[0]);
  });

  test("are read once an hour, and only counted in between", async () => {
    const { open, options, process } = await setUp(3);
    await until(async () => (await process.listDeadLetters()).deadLetters.length === 3);
    await process.stop();
    const asked: number[] = [];
    const store = open();
    const page: KeyStore["page"] = (workspaceId, want) => {
      if (want.kind === "delivery" && want.of === "dead") asked.push(want.limit);
      return store.page(workspaceId, want);
    };
    const counting = new Proxy(store, {
      get: (target, name) => {
        const method: unknown = name === "page" ? page : Reflect.get(target, name);
        return typeof method === "function" ? method.bind(target) : method;
      },
    });
    const time = { now: NOON + DAY_MS };
    const other = sendingProcess(counting, options, { clock: () => time.now, lookEveryMs: 1 });
    await other.start();
    await until(() => asked.length >= 4);
    expect(asked.slice(0, 4)).toEqual([100, 1, 1, 1]);
    time.now += HOUR_MS;
    await until(() => asked.filter((limit) => limit > 1).length === 2);
    await other.stop();
  });

  test("to send again that are damaged are reported once, whatever else is sent again", async () => {
    const { open, process, receiver, options, dead } = await setUp(2);
    await until(async () => (await dead()).length === 2);
    const more = endpointAt(`${receiver.url}other`, { types: ["api.created"] });
    await process.stop();
    const [first, second] = (await process.listDeadLetters()).deadLetters;
    for (const letter of [first, second])
      await process.redeliver({ deadLetterId: letter?.deadLetterId ?? "" });
    const store = open();
    const want = { kind: "delivery", id: first?.deadLetterId ?? "" } as const;
    const { found } = await store.read("ws_default", [want]);
    const { record } = found[0] as LoadedRecord;
    const put = { record: { ...record, body: { damaged: true } } };
    await store.commit("ws_default", { ...EMPTY_CHANGE, puts: [put] });
    const endpoints = [...options.endpoints, more];
    const other = sendingProcess(store, { endpoints }, { clock: () => NOON, lookEveryMs: 1 });
    const before = receiver.received.length;
    await other.start();
    await until(() => receiver.received.length > before);
    await until(() => other.errors.some((error) => `${error}`.includes("damaged")));
    await until(async () => (await other.listDeadLetters()).deadLetters.length === 1);
    for (let round = 0; round < 2; round += 1) {
      const [letter] = (await other.listDeadLetters()).deadLetters;
      await other.redeliver({ deadLetterId: letter?.deadLetterId ?? "" });
      await until(() => receiver.received.length > before + round + 1);
      await until(async () => (await other.listDeadLetters()).deadLetters.length === 1);
    }
    expect(other.errors.filter((error) => `${error}`.includes("damaged"))).toHaveLength(1);
  });

  test("are all deleted, even if they fill more than a page", async () => {
    const { latchkey } = await setUp(0);
    const deliveries = deliveriesOf(latchkey);
    const places = { id: "0".repeat(32), cursor: await deliveries.endOfLog(), origin: null };
    await deliveries.write((sender) => ({ ...sender, endpoints: [places] }), {
      puts: Array.from({ length: 250 }, (_, at) => ({
        endpointId: places.id,
        eventId: `evt_${1_000 + at}`,
        number: 1,
        lane: "key_1",
        state: "dead",
        tries: 1,
        since: NOON,
        at: NOON,
        failure: "410",
      })),
    });
    expect(await deliveries.pruneDead({ since: 0, most: 120 })).toEqual({ old: 0, tooMany: 130 });
    expect(await deliveries.pruneDead({ since: NOON + 1, most: 1 })).toEqual({
      old: 120,
      tooMany: 0,
    });
  });
});
