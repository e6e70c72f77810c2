import { aChange, aRecord, at, NOW, usesOf, WORKSPACE } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import type { Redis } from "ioredis";
import { beforeAll, expect, test } from "vitest";
import { errorOf } from "./testing/errors.js";
import { openOwnStore } from "./testing/own-store.js";
import { describeWithServers } from "./testing/where.js";

const DAY_MS = 86_400_000;

describeWithServers("much at once", () => {
  let control: Redis;
  let store: KeyStore;

  beforeAll(async () => {
    const own = await openOwnStore();
    ({ control, store } = own);
    return own.close;
  });

  test("100 keys with all that a key can have, and their entries in the audit log, take one script", async () => {
    const numbers = Array.from({ length: 100 }, (_, number) => number + 1);
    const body = { meta: { text: "m".repeat(10_000) }, roles: numbers, permissions: numbers };
    const keys = numbers.map((number) => aRecord("key", number, { body, link: at("identity").id }));
    const entries = numbers.map((number) =>
      aRecord("auditEntry", number, { body: "e".repeat(200) }),
    );
    const change = aChange({
      expects: keys.map(({ kind, id }) => ({ kind, id, version: null })),
      puts: [
        ...keys.map((record) => ({ record, counters: { usage: usesOf(5) } })),
        ...entries.map((record) => ({ record })),
      ],
      claims: keys.map(({ id }) => ({ kind: "key", index: "hash", value: `hash-${id}`, id })),
      enters: [
        ...keys.map(({ id }) => ({ list: "keys", id })),
        ...entries.flatMap(({ id }, index) =>
          [undefined, keys[index]?.id, "ann"].map((of) => ({ list: "audit", of, id })),
        ),
      ],
    });
    await control.config("SET", "slowlog-log-slower-than", "0");
    await control.slowlog("RESET");
    const result = await store.commit(WORKSPACE, change);
    await control.config("SET", "slowlog-log-slower-than", "-1");
    expect(result).toMatchObject({ kind: "committed" });
    const log = (await control.slowlog("GET", "100")) as [number, number, number, string[]][];
    const scripts = log.filter(([, , , words]) => /^eval/i.test(words[0] ?? ""));
    // The second is for a server that did not know the script yet.
    expect(scripts.length).toBeLessThanOrEqual(2);
    console.info(`100 keys in one script: ${Math.max(...scripts.map(([, , us]) => us))} µs`);
    const { found } = await store.read(WORKSPACE, [at("key", 100), at("auditEntry", 100)]);
    expect(found.map((loaded) => loaded?.record)).toEqual([keys[99], entries[99]]);
  });

  test("a batch of counts is added wholly or not at all, however many days it covers", async () => {
    const days = 500;
    const subject = { kind: "api", id: at("api").id } as const;
    const counts = Array.from({ length: days }, (_, day) => {
      return { subject, hourAt: day * DAY_MS, code: "VALID" as const, count: 1 };
    });
    const batch = { counts, uses: [] };
    const read = (startAt: number, endAt: number) =>
      store.readStatistics(WORKSPACE, { subject, startAt, endAt });
    await store.addStatistics(WORKSPACE, batch);
    const [sums] = await control.keys("*:v:*");
    await control.hset(sums ?? "", "000000499", "damaged");
    expect(await errorOf(store.addStatistics(WORKSPACE, batch))).toMatchObject({
      code: "STORE_CORRUPT",
    });
    await control.hset(sums ?? "", "000000499", ` ${499 * 24}:VALID=1`);
    const all = await read(0, Number.MAX_SAFE_INTEGER);
    expect(all).toEqual(counts.map(({ hourAt, code, count }) => ({ hourAt, code, count })));
    expect(await read(100 * DAY_MS, 400 * DAY_MS)).toHaveLength(300);
  });

  test("a server that is out of memory refuses new records, and still takes access away", async () => {
    const key = aRecord("key", 101);
    const name = { kind: "key", index: "hash", value: "a name" } as const;
    const creation = aChange({ puts: [{ record: key }], claims: [{ ...name, id: key.id }] });
    await store.commit(WORKSPACE, creation);
    const { found } = await store.read(WORKSPACE, [key]);
    const expects = [{ kind: "key", id: key.id, version: 1, handle: found[0]?.handle } as const];
    await control.config("SET", "maxmemory", "1");
    try {
      const another = { ...aRecord("key", 102) };
      const claims = [{ ...name, value: "another", id: another.id }];
      const made = store.commit(WORKSPACE, aChange({ puts: [{ record: another }], claims }));
      expect(await errorOf(made)).toMatchObject({ outcome: "not-applied" });
      const entry = { record: aRecord("auditEntry", 101) };
      const disabled = { ...key, version: 2, body: { disabled: true, at: NOW } };
      const disabling = aChange({ expects, puts: [{ record: disabled }, entry] });
      expect(await store.commit(WORKSPACE, disabling)).toMatchObject({ kind: "committed" });
      const deletion = aChange({ deletes: [key], releases: [{ ...name, id: key.id }] });
      expect(await store.commit(WORKSPACE, deletion)).toMatchObject({ kind: "committed" });
    } finally {
      await control.config("SET", "maxmemory", "0");
    }
    expect((await store.read(WORKSPACE, [key])).found).toEqual([null]);
  });
});
