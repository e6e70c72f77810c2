import { type AuditEvent, type AuditType, createLatchkey, type Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { rejectionOf } from "./test-context.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20260411);

/** Makes a change, and resolves after its commit. It may be refused. */
type Write = (latchkey: Latchkey, apiId: string) => Promise<unknown>;

const WRITES: readonly Write[] = [
  (latchkey, apiId) => latchkey.createKey({ apiId, externalId: "user_1" }),
  (latchkey, apiId) =>
    latchkey.createKeys([
      { apiId, plaintext: randomText() },
      { apiId, plaintext: randomText() },
    ]),
  (latchkey) => latchkey.createApi({ name: "tides" }),
  (latchkey) => latchkey.createRole({ name: "pilot" }).catch(() => undefined),
  (latchkey, apiId) => latchkey.updateApi({ apiId, name: randomText() }),
  (latchkey, apiId) => latchkey.createKey({ apiId, roles: ["missing"] }).catch(() => undefined),
];

function randomText(): string {
  return `text_${Math.random().toString(36).slice(2)}_${Math.random().toString(36).slice(2)}`;
}

/** Reads all events after a cursor. */
async function readOn(
  latchkey: Latchkey,
  after: string | undefined,
  limit = 100,
  types?: readonly AuditType[],
) {
  const events: AuditEvent[] = [];
  let cursor = after;
  for (;;) {
    const page = await latchkey.readEvents({
      limit,
      ...(cursor !== undefined && { after: cursor }),
      ...(types !== undefined && { types }),
    });
    expect(page.events.length).toBeLessThanOrEqual(limit);
    events.push(...page.events);
    const isAtEnd = page.cursor === cursor;
    cursor = page.cursor;
    if (isAtEnd) return { events, cursor };
  }
}

describeOnEveryStore("events", (open) => {
  test(`V1: every reader meets each event once and in the same order, beside writers of several processes (seed ${SEED})`, async () => {
    const context = open();
    const chance = chanceOf(SEED);
    const processes = [context.latchkey, context.another(), context.another()] as const;
    const { apiId } = await context.latchkey.createApi({ name: "maps" });
    let isWriting = true;
    const writers = processes.map(async (latchkey) => {
      for (let count = 0; count < 12; count += 1) {
        await chance.pick(WRITES)(latchkey, apiId);
        context.advance(chance.below(3));
      }
    });
    const written = Promise.all(writers).finally(() => {
      isWriting = false;
    });
    const readers = processes.map(async (latchkey) => {
      const ids: string[] = [];
      const limit = 1 + chance.below(7);
      let cursor: string | undefined;
      while (isWriting) {
        const page: Awaited<ReturnType<Latchkey["readEvents"]>> = await latchkey.readEvents({
          limit,
          ...(cursor !== undefined && { after: cursor }),
        });
        ids.push(...page.events.map(({ id }) => id));
        cursor = page.cursor;
        await new Promise((resolve) => setImmediate(resolve));
      }
      ids.push(...(await readOn(latchkey, cursor, limit)).events.map(({ id }) => id));
      return ids;
    });
    await written;
    const all = (await readOn(context.latchkey, undefined)).events;
    const ids = all.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const reader of readers) expect(await reader).toEqual(ids);
    const logged: string[] = [];
    for await (const { id } of context.latchkey.auditEvents()) logged.push(id);
    expect(ids.toSorted()).toEqual(logged.toSorted());
    const types = ["key.created", "role.created"] as const;
    const some = await readOn(processes[1], undefined, 3, types);
    expect(some.events).toEqual(all.filter(({ type }) => types.some((one) => one === type)));
  });

  test("V1: once events that a reader has not read are pruned, it is refused with the reason", async () => {
    const { latchkey, advance, now, another } = open();
    const { cursor: atStart } = await latchkey.readEvents();
    const { apiId } = await latchkey.createApi({ name: "maps" });
    advance(10);
    const { keyId } = await latchkey.createKey({ apiId });
    const { cursor: atEnd } = await another().readEvents({ after: atStart });
    advance(10);
    await latchkey.pruneAuditEvents({ before: now() });
    expect(await rejectionOf(another().readEvents({ after: atStart }))).toMatchObject({
      code: "PRECONDITION_FAILED",
      reason: "pruned",
    });
    expect(await latchkey.readEvents({ after: atEnd })).toEqual({ events: [], cursor: atEnd });
    expect((await latchkey.readEvents()).events).toEqual([]);
    await latchkey.deleteKey({ keyId });
    for (const input of [{}, { after: atEnd }])
      expect((await another().readEvents(input)).events).toMatchObject([{ type: "key.deleted" }]);
  });

  test("V1: a reader from the beginning never misses an event silently while events are pruned", async () => {
    const { latchkey, advance, now } = open();
    const { apiId } = await latchkey.createApi({ name: "maps" });
    for (let count = 0; count < 8; count += 1) {
      advance(10);
      await latchkey.createKey({ apiId });
    }
    const { cursor: after } = await latchkey.readEvents({ limit: 2 });
    await latchkey.pruneAuditEvents({ before: now() - 30 });
    const refused = await rejectionOf(latchkey.readEvents({ after }));
    expect(refused).toMatchObject({ reason: "pruned" });
    expect((await latchkey.readEvents()).events).toHaveLength(4);
  });

  test("a cursor of another workspace is refused", async () => {
    const { latchkey } = open();
    const { cursor: after } = await latchkey.workspace("ws_other").readEvents();
    for (const cursor of [after, "x", `${after}A`])
      expect(await rejectionOf(latchkey.readEvents({ after: cursor }))).toMatchObject({
        code: "BAD_REQUEST",
      });
  });

  test("each workspace has its own events, and with auditLog false there are none", async () => {
    const { latchkey, store } = open();
    await latchkey.createApi({ name: "maps" });
    expect((await latchkey.workspace("ws_other").readEvents()).events).toEqual([]);
    const without = createLatchkey({ store, auditLog: false });
    expect(await rejectionOf(without.readEvents())).toMatchObject({
      code: "PRECONDITION_FAILED",
      reason: "no-audit-log",
    });
  });

  test("one call reads at most 2,000 entries, and its cursor continues", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "maps" });
    for (let batch = 0; batch < 21; batch += 1)
      await latchkey.createKeys(
        Array.from({ length: 100 }, () => ({ apiId, plaintext: randomText() })),
      );
    const { roleId } = await latchkey.createRole({ name: "pilot" });
    const types = ["role.created"] as const;
    const first = await latchkey.readEvents({ types });
    expect(first.events).toEqual([]);
    const second = await latchkey.readEvents({ types, after: first.cursor });
    expect(second.events).toMatchObject([{ resourceId: roleId }]);
  });
});
