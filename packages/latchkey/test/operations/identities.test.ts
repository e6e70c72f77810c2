import { expect, test } from "vitest";
import { describeOnMemory, HOUR_MS, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("identities", (open) => {
  test("createIdentity refuses a taken externalId, and of N racing calls one wins", async () => {
    const { latchkey } = open();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => latchkey.createIdentity({ externalId: "pier-7" })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await rejectionOf(latchkey.createIdentity({ externalId: "pier-7" }))).toMatchObject({
      code: "CONFLICT",
    });
    expect((await latchkey.listIdentities()).total).toBe(1);
  });

  test("getIdentity finds an identity by either id, but not in another workspace", async () => {
    const { latchkey } = open();
    const ratelimits = [{ name: "reads", limit: 5, duration: HOUR_MS }];
    const { identityId } = await latchkey.createIdentity({
      externalId: "pier-7",
      meta: { berth: 4 },
      ratelimits,
    });
    const identity = { id: identityId, externalId: "pier-7", meta: { berth: 4 }, ratelimits };
    expect(await latchkey.getIdentity({ identityId })).toEqual(identity);
    expect(await latchkey.getIdentity({ externalId: "pier-7" })).toEqual(identity);
    expect(await latchkey.getIdentity({ identityId, externalId: "other" })).toEqual(identity);
    expect(await rejectionOf(latchkey.getIdentity({}))).toMatchObject({ code: "BAD_REQUEST" });
    const elsewhere = latchkey.workspace("ws_other");
    expect(await rejectionOf(elsewhere.getIdentity({ identityId }))).toMatchObject({
      code: "NOT_FOUND",
    });
    expect(await rejectionOf(elsewhere.updateIdentity({ identityId, meta: {} }))).toMatchObject({
      code: "NOT_FOUND",
    });
    expect(await elsewhere.listIdentities()).toEqual({ identities: [], total: 0 });
  });

  test("identities are found by a part of their externalId, with a bounded number of reads per page", async () => {
    const { latchkey } = open();
    for (let at = 0; at < 2_001; at += 1)
      await latchkey.createIdentity({ externalId: at % 1_000 === 0 ? `Pier-${at}` : `boat-${at}` });
    const ids = async (input: { externalIdContains: string; limit?: number }) => {
      const pages: (readonly string[])[] = [];
      let cursor: string | undefined;
      do {
        const page = await latchkey.listIdentities({ ...input, cursor });
        expect(page.total).toBe(2_001);
        expect(page.scanned).toBeLessThanOrEqual(2_000);
        pages.push(page.identities.map(({ externalId }) => externalId));
        cursor = page.cursor;
      } while (cursor !== undefined);
      return pages;
    };
    expect(await ids({ externalIdContains: "pIER-" })).toEqual([
      ["Pier-0", "Pier-1000"],
      ["Pier-2000"],
    ]);
    expect(await ids({ externalIdContains: "pier-", limit: 1 })).toEqual([
      ["Pier-0"],
      ["Pier-1000"],
      ["Pier-2000"],
    ]);
    expect(await ids({ externalIdContains: "boat-1999" })).toEqual([["boat-1999"], []]);
    const [all] = await ids({ externalIdContains: "-", limit: 100 });
    expect(all).toHaveLength(100);
    expect(await latchkey.listIdentities({ limit: 1 })).not.toHaveProperty("scanned");
    const found: string[] = [];
    for await (const { externalId } of latchkey.identities({ externalIdContains: "-2000" }))
      found.push(externalId);
    expect(found).toEqual(["Pier-2000"]);
    for (const externalIdContains of ["", "x".repeat(256)])
      expect(await rejectionOf(latchkey.listIdentities({ externalIdContains }))).toMatchObject({
        code: "BAD_REQUEST",
      });
  });

  test("updateIdentity keeps omitted fields, clears with {} and [], and returns the updated identity", async () => {
    const { latchkey } = open();
    const ratelimits = [{ name: "reads", limit: 5, duration: HOUR_MS }];
    const { identityId } = await latchkey.createIdentity({
      externalId: "pier-7",
      meta: { berth: 4 },
      ratelimits,
    });
    const before = await latchkey.getIdentity({ identityId });
    expect(await latchkey.updateIdentity({ externalId: "pier-7" })).toEqual(before);
    expect(await latchkey.updateIdentity({ identityId, meta: {} })).toEqual({
      ...before,
      meta: {},
    });
    expect(await latchkey.updateIdentity({ identityId, ratelimits: [] })).toEqual({
      ...before,
      meta: {},
      ratelimits: [],
    });
    expect(await latchkey.getIdentity({ identityId })).toEqual({
      ...before,
      meta: {},
      ratelimits: [],
    });
  });

  test("a counter continues if its limit keeps name and duration, and otherwise restarts", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createIdentity({
      externalId: "p",
      ratelimits: [{ name: "reads", limit: 2, duration: HOUR_MS }],
    });
    const { key } = await latchkey.createKey({ apiId, externalId: "p" });
    const ask = () => latchkey.verifyKey({ key, ratelimits: [{ name: "reads" }] });
    await ask();
    await latchkey.updateIdentity({
      externalId: "p",
      ratelimits: [{ name: "reads", limit: 9, duration: HOUR_MS }],
    });
    expect(await ask()).toMatchObject({
      ratelimit: { limit: 9, remaining: 7, reset: NOON + HOUR_MS },
    });
    await latchkey.updateIdentity({
      externalId: "p",
      ratelimits: [{ name: "reads", limit: 9, duration: 2 * HOUR_MS }],
    });
    expect(await ask()).toMatchObject({ ratelimit: { remaining: 8 } });
  });

  test("a limit of a key hides one of its identity with the same name", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createIdentity({
      externalId: "p",
      ratelimits: [{ name: "default", limit: 100, duration: HOUR_MS }],
    });
    const { key } = await latchkey.createKey({
      apiId,
      externalId: "p",
      ratelimit: { limit: 2, duration: HOUR_MS },
    });
    expect(await latchkey.verifyKey({ key, ratelimits: [{ name: "default" }] })).toMatchObject({
      ratelimits: [{ name: "default", limit: 2, remaining: 1 }],
    });
  });

  test("two limits with the same name are refused by place", async () => {
    const { latchkey } = open();
    const limit = { name: "reads", limit: 1, duration: 1 };
    const error = await rejectionOf(
      latchkey.createIdentity({ externalId: "p", ratelimits: [limit, limit] }),
    );
    expect(error.issues).toEqual([
      { path: "ratelimits.1.name", message: "must not be given twice" },
    ]);
  });

  test("are listed in the order of creation, with limits and without metadata", async () => {
    const { latchkey } = open();
    for (let count = 0; count < 5; count += 1) {
      await latchkey.createIdentity({ externalId: `pier-${count}`, meta: { count } });
    }
    const first = await latchkey.listIdentities({ limit: 3 });
    const second = await latchkey.listIdentities({ limit: 3, cursor: first.cursor as string });
    const all = [...first.identities, ...second.identities];
    expect(all.map(({ externalId }) => externalId)).toEqual([
      "pier-0",
      "pier-1",
      "pier-2",
      "pier-3",
      "pier-4",
    ]);
    expect(Object.keys(all[0] ?? {}).sort()).toEqual(["externalId", "id", "ratelimits"]);
    expect([first.total, second.total, second.cursor]).toEqual([5, 5, undefined]);
  });
});
