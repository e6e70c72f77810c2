import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, NOON } from "./test-context.js";
import { overtaken } from "./wrapped-store.js";

describeOnEveryStore("usage by tag", (open) => {
  test("V1: the first 1,000 tags are counted separately, and all others as one", async () => {
    const context = open({ usage: { durable: true } });
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const tagsFrom = (first: number, count: number) =>
      Array.from({ length: count }, (_, at) => `t${first + at}`);
    await latchkey.createKeys(
      Array.from({ length: 31 }, (_, number) => ({
        apiId,
        plaintext: `of another system ${number}`,
        tags: tagsFrom(32 * number, 32),
      })),
    );
    // 992 tags are counted so far, so the first eight of the next eleven are, too.
    const { key: late = "" } = await latchkey.createKey({ apiId, tags: tagsFrom(992, 11) });
    const { key: later = "", keyId } = await context
      .another()
      .createKey({ apiId, tags: ["t0", "u1", "other", "u2"] });
    for (const key of [late, later, later]) await latchkey.verifyKey({ key });
    await latchkey.updateKey({ keyId, tags: ["t999", "u1"] });
    await context.another().verifyKey({ key: later });
    context.advance(DAY_MS);
    const question = { start: NOON, end: context.now(), granularity: "day", by: "tag" } as const;
    const { rows } = await latchkey.exportUsage(question);
    expect(rows.map(({ tag, uses }) => [tag, uses])).toEqual([
      ["other", 4],
      ["t0", 2],
      ...tagsFrom(992, 7).map((tag) => [tag, 1]),
      ["t999", 2],
    ]);
  });

  test("a tag of a deleted key keeps its rows until its statistics are deleted", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key = "", keyId } = await latchkey.createKey({ apiId, tags: ["eu"] });
    await latchkey.verifyKey({ key });
    await latchkey.updateKey({ keyId, tags: null });
    await latchkey.verifyKey({ key });
    await latchkey.deleteKey({ keyId });
    context.advance(2 * DAY_MS);
    const question = { start: NOON, end: context.now(), granularity: "day", by: "tag" } as const;
    expect((await latchkey.exportUsage(question)).rows).toMatchObject([
      { tag: "eu", outcomes: { VALID: 1 }, uses: 1 },
    ]);
    const elsewhere = latchkey.workspace("ws_other");
    expect((await elsewhere.exportUsage(question)).rows).toEqual([]);
    await latchkey.pruneVerifications({ before: context.now() });
    expect((await latchkey.exportUsage(question)).rows).toEqual([]);
  });

  test("the tag of an erased owner is deleted, unless a key of another owner has or had it", async () => {
    const context = open({ usage: { durable: true } });
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const tags = ["eu", "of-ada", "of-both"];
    const theirs = await latchkey.createKey({ apiId, externalId: "ada", tags: ["of-ada-once"] });
    await latchkey.verifyKey({ key: theirs.key ?? "" });
    await latchkey.updateKey({ keyId: theirs.keyId, tags });
    const other = await latchkey.createKey({ apiId, tags: ["eu"] });
    const former = await latchkey.createKey({ apiId, externalId: "bob", tags: ["of-both"] });
    for (const { key = "" } of [theirs, other, former]) await latchkey.verifyKey({ key });
    await latchkey.updateKey({ keyId: former.keyId, tags: null });
    await latchkey.eraseIdentity({ externalId: "ada" });
    context.advance(2 * DAY_MS);
    const question = { start: NOON, end: context.now(), granularity: "day", by: "tag" } as const;
    const { rows } = await latchkey.exportUsage(question);
    expect(rows.map(({ tag, uses }) => [tag, uses])).toEqual([
      ["eu", 2],
      ["of-both", 2],
    ]);
    // It is counted anew, even by a process that knew it before.
    const again = await latchkey.createKey({ apiId, tags });
    const { key = "" } = await context.another().createKey({ apiId, tags });
    for (const each of [again.key ?? "", key]) await latchkey.verifyKey({ key: each });
    context.advance(2 * DAY_MS);
    const later = { ...question, start: NOON + DAY_MS, end: context.now() };
    expect((await latchkey.exportUsage(later)).rows).toMatchObject([
      { tag: "eu", uses: 2 },
      { tag: "of-ada", uses: 2 },
      { tag: "of-both", uses: 2 },
    ]);
  });

  test.each(["bob", undefined])(
    "the tag of an erased owner stays if somebody else gets it meanwhile (owner: %s)",
    async (externalId) => {
      const context = open({ usage: { durable: true } });
      const { latchkey, store } = context;
      const { apiId } = await latchkey.createApi({ name: "tide tables" });
      const tags = ["of-ada", "of-both"];
      const theirs = await latchkey.createKey({ apiId, externalId: "ada", tags });
      await latchkey.verifyKey({ key: theirs.key });
      const erasing = overtaken(store, async () => {
        const late = await latchkey.createKey({ apiId, externalId, tags: ["of-both"] });
        await latchkey.verifyKey({ key: late.key });
      });
      await context.another({ store: erasing }).eraseIdentity({ externalId: "ada" });
      context.advance(2 * DAY_MS);
      const question = { start: NOON, end: context.now(), granularity: "day", by: "tag" } as const;
      const { rows } = await latchkey.exportUsage(question);
      expect(rows.map(({ tag, uses }) => [tag, uses])).toEqual([["of-both", 2]]);
    },
  );
});
