import { createLatchkey } from "@latchkey/core";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { dyingStore } from "./testing/dying-store.js";
import {
  describeOnEveryStore,
  describeOnMemoryOrAll,
  type OpenStore,
} from "./testing/every-store.js";
import { startReceiver } from "./testing/receiver.js";
import { endpointAt, expectSigned, secretOf, sendingProcess, until } from "./testing/sender.js";

const DAY_MS = 86_400_000;

/** A store with an API, and a receiver. */
async function setUp(openStore: OpenStore, answer: Parameters<typeof startReceiver>[0] = 204) {
  const open = openStore();
  const receiver = await startReceiver(answer);
  const options = { endpoints: [endpointAt(receiver.url)] };
  const process = sendingProcess(open(), options);
  const { apiId } = await process.latchkey.createApi({ name: "payments" });
  return { open, receiver, options, process, latchkey: process.latchkey, apiId };
}

describeOnMemoryOrAll("webhooks", (openStore) => {
  test("an event is sent once, signed by the Standard Webhooks scheme", async () => {
    const { receiver, process, latchkey, apiId } = await setUp(openStore);
    await process.start();
    const { keyId } = await latchkey.createKey({ apiId, name: "build server" });
    await until(() => receiver.received.length > 0);
    const [one] = receiver.received;
    if (one === undefined) return expect.unreachable();
    const { events } = await latchkey.readEvents({ types: ["key.created"] });
    const [event] = events;
    expect(new Webhook(secretOf()).verify(one.body, one.headers)).toEqual({
      type: "key.created",
      timestamp: new Date(event?.at ?? 0).toISOString(),
      data: JSON.parse(JSON.stringify(event)),
    });
    expect(event?.keyId).toBe(keyId);
    expect(one.headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": event?.id,
    });
    await process.stop();
    await process.start();
    await latchkey.deleteKey({ keyId });
    await until(() => receiver.received.length > 1);
    expect(receiver.received.map(({ type }) => type)).toEqual(["key.created", "key.deleted"]);
  });

  test("a receiver that answers 410 does not get that event again, but gets the next one", async () => {
    const { receiver, process, latchkey, apiId } = await setUp(openStore, 410);
    await process.start();
    const { keyId } = await latchkey.createKey({ apiId });
    await latchkey.updateKey({ keyId, name: "phone app" });
    await until(async () => (await process.listDeadLetters()).deadLetters.length === 2);
    expect(receiver.received.map(({ type }) => type)).toEqual(["key.created", "key.updated"]);
    const { deadLetters } = await process.listDeadLetters();
    expect(deadLetters.map(({ tries, failure }) => [tries, failure])).toEqual([
      [1, "410"],
      [1, "410"],
    ]);
  });

  test("events are signed with both secrets while a rotation lists both", async () => {
    const { open, receiver, process, latchkey, apiId } = await setUp(openStore);
    await process.start();
    await latchkey.createKey({ apiId });
    await until(() => receiver.received.length === 1);
    await process.stop();
    const secret = [secretOf(2), secretOf()];
    await sendingProcess(open(), { endpoints: [endpointAt(receiver.url, { secret })] }).start();
    await latchkey.createKey({ apiId });
    await until(() => receiver.received.length === 2);
    for (const number of [1, 2])
      for (const each of receiver.received.slice(1)) expectSigned(each, secretOf(number));
  });
});

describeOnEveryStore("webhooks", (openStore) => {
  test("an endpoint begins with the first event after start was called, even if that was not awaited", async () => {
    const { receiver, process, latchkey, apiId } = await setUp(openStore);
    await latchkey.createKey({ apiId });
    const started = process.start();
    const { keyId } = await latchkey.createKey({ apiId });
    await started;
    await until(() => receiver.received.length > 0);
    expect(receiver.received.map(({ about }) => about)).toEqual([keyId]);
  });

  test("events that happen while no process sends are sent when one starts", async () => {
    const { open, receiver, options, process, latchkey, apiId } = await setUp(openStore);
    await process.start();
    await process.stop();
    const keyIds: string[] = [];
    for (let count = 0; count < 5; count += 1)
      keyIds.push((await latchkey.createKey({ apiId })).keyId);
    expect(receiver.received).toEqual([]);
    await sendingProcess(open(), options).start();
    await until(() => receiver.received.length >= 5);
    expect(receiver.received.map(({ about }) => about).sort()).toEqual(keyIds.sort());
  });

  test("a refused event is sent again until it is taken; later events of its key wait, those of other keys do not", async () => {
    const { receiver, process, latchkey, apiId } = await setUp(openStore);
    await process.start();
    const first = await latchkey.createKey({ apiId });
    await until(() => receiver.received.length === 1);
    receiver.answerWith((response, { about }) =>
      response.writeHead(about === first.keyId ? 500 : 204).end(),
    );
    await latchkey.updateKey({ keyId: first.keyId, name: "one" });
    await latchkey.updateKey({ keyId: first.keyId, name: "two" });
    const second = await latchkey.createKey({ apiId });
    await until(() => receiver.received.some(({ about }) => about === second.keyId));
    await until(() => receiver.received.length > 4);
    receiver.answerWith(204);
    const { events } = await latchkey.readEvents({ types: ["key.updated"] });
    const [one, two] = events.map(({ id }) => id);
    await until(() => receiver.received.at(-1)?.eventId === two);
    const ofFirst = receiver.received.filter(({ about }) => about === first.keyId).slice(1);
    const sent = ofFirst.map(({ eventId }) => eventId);
    expect(sent).toEqual([...Array(sent.length - 1).fill(one), two]);
    for (const each of receiver.received) expectSigned(each);
    expect((await process.listDeadLetters()).deadLetters).toEqual([]);
  });

  test("an event is given up when its time is over, is listed, and can be sent again", async () => {
    const { receiver, options, open, apiId } = await setUp(openStore, 503);
    let now = Date.UTC(2026, 2, 10);
    const process = sendingProcess(open(), options, { clock: () => now });
    const { latchkey } = process;
    await process.start();
    const { keyId } = await latchkey.createKey({ apiId });
    await until(() => receiver.received.length > 0);
    expect((await process.listDeadLetters()).deadLetters).toEqual([]);
    now += 3 * DAY_MS;
    await until(async () => (await process.listDeadLetters()).deadLetters.length > 0);
    const { events } = await latchkey.readEvents({ types: ["key.created"] });
    const { deadLetters } = await process.listDeadLetters({ limit: 10 });
    expect(deadLetters).toEqual([
      {
        deadLetterId: expect.stringMatching(/^dlv_/),
        url: receiver.url,
        eventId: events[0]?.id,
        event: events[0],
        tries: receiver.received.length,
        givenUpAt: now,
        failure: "503",
      },
    ]);
    await until(() => process.errors.length > 0);
    const count = receiver.received.length;
    const tries = count === 1 ? "one try, which" : `${count} tries, the last`;
    expect(process.errors.map(String)).toEqual([
      `Error: webhooks to ${new URL(receiver.url).origin}: ${events[0]?.id} was given up after ${tries} failed with 503; it is a dead letter`,
    ]);
    receiver.answerWith(204);
    const sent = receiver.received.length;
    const [{ deadLetterId } = { deadLetterId: "" }] = deadLetters;
    await process.redeliver({ deadLetterId });
    await until(() => receiver.received.length > sent);
    expect(receiver.received.at(-1)).toMatchObject({ about: keyId, eventId: events[0]?.id });
    await until(async () => (await process.listDeadLetters()).deadLetters.length === 0);
    await process.stop();
    await expect(process.redeliver({ deadLetterId })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("one process sends at a time, and another one takes over when it has stopped", async () => {
    const { open, receiver, options, process, latchkey, apiId } = await setUp(openStore);
    await process.start();
    const other = sendingProcess(open(), options);
    await other.start();
    for (let count = 0; count < 10; count += 1) await latchkey.createKey({ apiId });
    await until(() => receiver.received.length >= 10);
    await process.stop();
    await latchkey.createKey({ apiId });
    await until(() => receiver.received.length >= 11);
    expect(new Set(receiver.received.map(({ eventId }) => eventId)).size).toBe(11);
    expect(receiver.received).toHaveLength(11);
  });

  test("a waiting event no longer contains data of an identity that was erased", async () => {
    const { receiver, process, latchkey, apiId } = await setUp(openStore, 500);
    await process.start();
    const externalId = "ada-lovelace";
    const { identityId } = await latchkey.createIdentity({ externalId });
    await latchkey.createKey({ apiId, externalId, name: "the key of Ada" });
    await until(() => receiver.received.length > 0);
    expect(receiver.received[0]?.body).toContain("the key of Ada");
    await latchkey.eraseIdentity({ identityId });
    const sent = receiver.received.length;
    await until(() => receiver.received.length > sent + 2);
    expect(receiver.received.at(-1)?.body).not.toMatch(/ada-lovelace|of Ada/);
    expect(receiver.received.at(-1)?.body).toContain('"erased":true');
  });

  test("if events were pruned before they were sent, sending continues with the earliest one left, and the gap is reported", async () => {
    const { open, receiver, options, process, latchkey, apiId } = await setUp(openStore);
    await process.start();
    await process.stop();
    await latchkey.createKey({ apiId });
    await latchkey.createKey({ apiId });
    const created = Date.now();
    await until(() => Date.now() > created);
    const before = Date.now();
    await until(() => Date.now() > before);
    const { keyId } = await latchkey.createKey({ apiId });
    await latchkey.pruneAuditEvents({ before });
    const next = sendingProcess(open(), options);
    await next.start();
    await until(() => receiver.received.length > 0);
    expect(receiver.received.map(({ about }) => about)).toEqual([keyId]);
    expect(String(next.errors[0])).toContain("events that follow this cursor were pruned");
    expect(next.errors).toHaveLength(1);
  });

  test("an event that is pruned while it waits is a dead letter without an event", async () => {
    const { receiver, process, latchkey, apiId } = await setUp(openStore, 500);
    await process.start();
    await latchkey.createKey({ apiId });
    await until(() => receiver.received.length > 1);
    const sent = Date.now();
    await until(() => Date.now() > sent);
    await latchkey.pruneAuditEvents({ before: Date.now() });
    await until(async () => (await process.listDeadLetters()).deadLetters.length > 0);
    const [dead] = (await process.listDeadLetters()).deadLetters;
    expect(dead?.failure).toBe("no-event");
    expect(dead).not.toHaveProperty("event");
  });

  test("an expiry is noticed and sent once, even if the clocks of two processes jump beyond the lease", async () => {
    const { open, receiver, apiId } = await setUp(openStore);
    let now = Date.UTC(2026, 2, 10);
    const types = ["key.expiresSoon", "key.hasExpired"] as const;
    const options = { endpoints: [endpointAt(receiver.url, { types })] };
    const one = sendingProcess(open(), options, { clock: () => now });
    await one.start();
    // It looks less often, and waits longer before it takes over.
    const other = sendingProcess(open(), options, { clock: () => now, lookEveryMs: 500 });
    await other.start();
    await one.latchkey.createKey({ apiId, expires: now + 30 * DAY_MS });
    now += 25 * DAY_MS;
    await until(() => receiver.received.length > 0);
    now += 5 * DAY_MS;
    await until(() => receiver.received.length > 1);
    await one.stop();
    expect(receiver.received.map(({ type }) => type)).toEqual(types);
  });

  test("a sender does not create a deleted workspace again, and continues once something happens there", async () => {
    const openHandle = openStore();
    const receiver = await startReceiver();
    const { store, calls } = dyingStore(openHandle());
    const process = sendingProcess(store, { endpoints: [endpointAt(receiver.url)] });
    const first = await process.latchkey.createApi({ name: "payments" });
    await process.start();
    await process.latchkey.createKey({ apiId: first.apiId });
    await until(() => receiver.received.length === 1);
    const other = createLatchkey({ store: openHandle() });
    const { workspaceId } = process.latchkey;
    await other.deleteWorkspace({ workspaceId, confirm: workspaceId });
    const before = calls();
    await until(() => calls() > before + 40);
    expect(await other.listWorkspaces()).toEqual({ workspaces: [], total: 0 });
    const { apiId } = await other.createApi({ name: "payments" });
    const { keyId } = await other.createKey({ apiId });
    await until(() => receiver.received.some(({ about }) => about === keyId));
    await process.stop();
  });

  test("dead letters are listed a page at a time, and their cursor is refused by other lists", async () => {
    const { process, latchkey, apiId } = await setUp(openStore, 410);
    await process.start();
    for (let count = 0; count < 5; count += 1) await latchkey.createKey({ apiId });
    await until(async () => (await process.listDeadLetters()).deadLetters.length === 5);
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await process.listDeadLetters({ limit: 2, cursor });
      expect(page.deadLetters.length).toBeLessThanOrEqual(2);
      ids.push(...page.deadLetters.map(({ deadLetterId }) => deadLetterId));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(new Set(ids).size).toBe(5);
    expect(ids).toEqual(ids.toSorted());
    const apis = await latchkey.listApis({ limit: 1 });
    const others = [apis.cursor ?? "none", "", "x", 7, null];
    for (const other of others)
      await expect(process.listDeadLetters({ cursor: other as string })).rejects.toMatchObject({
        code: "BAD_REQUEST",
      });
  });
});
