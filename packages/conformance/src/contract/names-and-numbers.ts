import assert from "node:assert/strict";
import { it, type StoreContract } from "../fixtures/context.js";
import { idsOn, pageOf, walk } from "../fixtures/pages.js";
import { aLimit, aPlan, aRequest, chargeAs, usedOf } from "../fixtures/plans.js";
import {
  aRecord,
  assertHolds,
  atFirst,
  commit,
  find,
  HASH,
  idOf,
  NOW,
  put,
  putWithUses,
  tellUse,
  usesOf,
} from "../fixtures/records.js";

/** Text that is special to a database, a script, a separator or a regular expression. */
const TEXTS: readonly string[] = [
  "",
  " ",
  "a b",
  "a:b",
  "a\u0000b",
  "a\u0000",
  "\u0000",
  "'; drop table record; --",
  '"quoted"',
  "`",
  "\\",
  "\\u0000",
  "{a}b",
  "}{",
  "%",
  "_",
  "*",
  "?",
  "[a-z]",
  "^$.|",
  "\r\n",
  "\t",
  "null",
  "undefined",
  "0",
  "-0",
  "1e3",
  "9007199254740993",
  "true",
  "__proto__",
  "constructor",
  "toString",
  "\u00e9",
  "e\u0301",
  "\ud83d\udd11",
  "\u2028",
  "\ufeff",
  "\u0130",
  "ß",
  "SS",
  "\u202eabc",
  "x".repeat(512),
  `${"x".repeat(511)}y`,
  "\u{1F511}".repeat(256),
];

/** Ids as the port allows them: 1 to 128 ASCII characters without spaces. */
const IDS: readonly string[] = [
  ..."0 00 1 A a a:b a;b {a} a.b a/b a|b ' \" ` \\ % _ * ? [a] ! ~".split(" "),
  ..."__proto__ constructor null -1 1e3 key_ id_1".split(" "),
  "key_000000000000000000000000001",
  "key_0000000000000000000000000001",
  ...["k".repeat(127), "k".repeat(128), `${"k".repeat(127)}l`],
];

export const nameAndNumberContracts: readonly StoreContract[] = [
  it("any text can be claimed, and each finds its own record", async (store, other) => {
    const claims = TEXTS.map((value, number) => ({
      kind: "identity" as const,
      index: "externalId",
      value,
      id: aRecord("identity", number).id,
    }));
    await commit(store, {
      puts: TEXTS.map((_, number) => ({ record: aRecord("identity", number) })),
      claims,
    });
    for (const { id, ...claim } of claims)
      assert.equal((await find(other, claim))?.record.id, id, JSON.stringify(claim.value));
    await commit(other, { releases: claims });
    for (const { id: _, ...claim } of claims) assert.equal(await find(store, claim), null);
  }),
  it("any text names a small list, and each holds its own records", async (store, other) => {
    const records = TEXTS.map((_, number) => aRecord("key", number));
    await commit(store, {
      puts: records.map((record) => ({ record })),
      enters: [
        ...records.map(({ id }, number) => ({ list: "keys", of: TEXTS[number] ?? "", id })),
        { list: "keys", id: idOf("key", TEXTS.length) },
      ],
    });
    await put(store, aRecord("key", TEXTS.length));
    for (const [number, of] of TEXTS.entries())
      assert.deepEqual(await idsOn(other, { of }), [aRecord("key", number).id], of);
    assert.deepEqual(await idsOn(other), [idOf("key", TEXTS.length)]);
    assert.equal((await pageOf(other)).size, 1);
  }),
  it("any ASCII text without spaces is an id: of records, of links, in lists and in charges", async (store, other) => {
    for (const [number, id] of IDS.entries()) {
      const identity = aRecord("identity", number, { id });
      const key = aRecord("key", number, { id, link: id, body: { id } });
      await commit(store, {
        puts: [
          { record: identity, counters: { usage: usesOf(number) } },
          { record: key, counters: { usage: usesOf(number + 1) } },
        ],
        enters: [{ list: "keys", id }],
        claims: [{ ...HASH, value: id, id }],
      });
    }
    for (const [number, id] of IDS.entries()) {
      const linked = {
        record: aRecord("identity", number, { id }),
        usage: usesOf(number),
        usedAt: null,
      };
      const key = aRecord("key", number, { id, link: id, body: { id } });
      await assertHolds(other, key, { usage: usesOf(number + 1), linked });
      assert.equal((await find(other, { ...HASH, value: id }))?.record.id, id);
      const confirms = atFirst(key);
      const { remaining } = await chargeAs("charged", other, aPlan({ confirms }));
      assert.equal(remaining, number, id);
    }
    assert.deepEqual(await walk(other, { limit: 3 }), IDS.toSorted());
  }),
  it("list names are apart, also those that begin or end alike", async (store, other) => {
    const lists = ["a", "a:b", "a.b", "{a}", "a:", ":a", "A", "aa", "a*", "size", "of"];
    for (const [number, list] of lists.entries()) {
      await put(store, aRecord("key", number));
      const { id } = aRecord("key", number);
      const enters = [
        { list, id },
        { list, of: "a", id },
        { list, of: "b", id: aRecord("key", 0).id },
      ];
      await commit(store, { enters });
    }
    for (const [number, list] of lists.entries()) {
      const { id } = aRecord("key", number);
      assert.deepEqual(await idsOn(other, { list }), [id], list);
      assert.deepEqual(await idsOn(other, { list, of: "a" }), [id], list);
      assert.equal((await pageOf(other, { list })).size, 1, list);
    }
  }),
  it("where the name of a list ends is never in doubt", async (store, other) => {
    const lists = [
      { list: "a", of: "ab" },
      { list: "aa", of: "b" },
      { list: "a", of: "b:c" },
      { list: "a:b", of: "c" },
      { list: "a:b:c" },
      { list: "a", of: "b\u0000c" },
      { list: "a", of: "b c" },
      { list: "a", of: "" },
      { list: "a" },
      { list: "a:" },
    ];
    for (const [number, list] of lists.entries()) {
      const record = aRecord("key", number);
      await commit(store, { puts: [{ record }], enters: [{ ...list, id: record.id }] });
    }
    for (const [number, list] of lists.entries())
      assert.deepEqual(await idsOn(other, list), [idOf("key", number)], JSON.stringify(list));
  }),
  it("request ids are apart, whatever they hold", async (store, other) => {
    await putWithUses(store, aRecord("key"), usesOf(1_000));
    const ids = ["a", "A", "a-b", "a_b", "-", "_", "0", "x".repeat(86), `${"x".repeat(85)}y`];
    for (const [index, id] of ids.entries())
      await chargeAs("charged", store, aPlan({ cost: index }), { request: aRequest({ id }) });
    const total = (count: number) => (count * (count + 1)) / 2;
    for (const [index, id] of ids.entries()) {
      const { remaining } = await chargeAs("charged", other, aPlan({ cost: index }), {
        request: aRequest({ id }),
      });
      assert.equal(remaining, 1_000 - total(index), id);
    }
  }),
  it("uses, costs and limits are exact up to 2^53 − 1", async (store, other) => {
    const max = Number.MAX_SAFE_INTEGER;
    const key = aRecord("key");
    await putWithUses(store, key, usesOf(max));
    const limits = [aLimit({ limit: max, cost: max - 2 })];
    const first = await chargeAs("charged", other, aPlan({ cost: max - 3, limits }));
    assert.deepEqual([first.remaining, first.limits[0]?.remaining], [3, 2]);
    await chargeAs("rate-limited", other, aPlan({ limits: [aLimit({ limit: max, cost: 3 })] }));
    await chargeAs("usage-exceeded", other, aPlan({ cost: 4 }));
    const second = aPlan({ cost: 1, limits: [aLimit({ limit: max, cost: 2 })] });
    assert.equal((await chargeAs("charged", other, second)).limits[0]?.remaining, 0);
    assert.equal(await usedOf(store), max);
    await assertHolds(store, key, { usage: usesOf(2) });
    await putWithUses(store, key, usesOf(max));
    assert.equal((await chargeAs("charged", other, aPlan({ cost: max }))).remaining, 0);
  }),
  it("numbers with fifteen digits and more come back digit by digit", async (store, other) => {
    for (const number of [1e14, 1e15 + 1, 123_456_789_012_345, 2 ** 53 - 3]) {
      const key = aRecord("key", 1, { version: number, body: { number } });
      const usage = { remaining: number, refilledAt: number - 1, lastRefillAt: number - 2 };
      await putWithUses(store, key, usage);
      await assertHolds(other, key, { usage });
      const confirms = [{ kind: key.kind, id: key.id, version: number }];
      const { remaining } = await chargeAs("charged", other, aPlan({ confirms }));
      assert.equal(remaining, number - 1);
      await tellUse(store, key, number);
      const after = { ...usage, remaining: number - 1 };
      await assertHolds(other, key, { usage: after, usedAt: number });
      await commit(store, { deletes: [key] });
    }
  }),
  it("windows of any length are aligned to the epoch: a millisecond, a century, an odd number", async (store, other) => {
    await putWithUses(store, aRecord("key"));
    for (const duration of [1, 7, 999_983, 3_155_760_000_000, Number.MAX_SAFE_INTEGER]) {
      const limits = [aLimit({ name: `of-${duration}`, duration, cost: 10 })];
      const plan = aPlan({ cost: 0, limits });
      const startedAt = NOW - (NOW % duration);
      const charged = await chargeAs("charged", store, plan);
      assert.equal(charged.limits[0]?.resetAt, startedAt + duration);
      const last = { now: startedAt + duration - 1 };
      await chargeAs("rate-limited", other, plan, last);
    }
  }),
];
