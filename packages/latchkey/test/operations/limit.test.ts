import { afterTaking, type LimitState, limitAt, roomOf } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnMemory, HOUR_MS, NOON, rejectionOf } from "../test-context.js";

const request = { namespace: "mail", identifier: "customer_42", limit: 3, duration: HOUR_MS };

describeOnMemory("limit", (open) => {
  test("takes one unit unless another cost is given, up to the limit and no more", async () => {
    const { latchkey } = open();
    const reset = NOON + HOUR_MS;
    const seen = [];
    for (let count = 0; count < 5; count += 1) seen.push(await latchkey.limit(request));
    expect(seen).toEqual([
      { success: true, limit: 3, remaining: 2, reset },
      { success: true, limit: 3, remaining: 1, reset },
      { success: true, limit: 3, remaining: 0, reset },
      { success: false, limit: 3, remaining: 0, reset },
      { success: false, limit: 3, remaining: 0, reset },
    ]);
  });

  test("takes a cost completely or not at all, and 0 only reads", async () => {
    const { latchkey } = open();
    expect(await latchkey.limit({ ...request, cost: 2 })).toMatchObject({
      success: true,
      remaining: 1,
    });
    expect(await latchkey.limit({ ...request, cost: 2 })).toMatchObject({
      success: false,
      remaining: 1,
    });
    expect(await latchkey.limit({ ...request, cost: 0 })).toMatchObject({
      success: true,
      remaining: 1,
    });
    expect(await latchkey.limit({ ...request, cost: 1 })).toMatchObject({
      success: true,
      remaining: 0,
    });
    expect(await latchkey.limit({ ...request, cost: 0 })).toMatchObject({
      success: true,
      remaining: 0,
    });
  });

  test("the next window opens at reset, not 1 ms before", async () => {
    const context = open();
    await context.latchkey.limit({ ...request, cost: 3 });
    context.setClock(NOON + HOUR_MS - 1);
    expect((await context.latchkey.limit(request)).success).toBe(false);
    context.setClock(NOON + HOUR_MS);
    expect(await context.latchkey.limit(request)).toEqual({
      success: true,
      limit: 3,
      remaining: 2,
      reset: NOON + 2 * HOUR_MS,
    });
  });

  test("a limit lowered below the taken units leaves 0, never less, and a raised one has room again", async () => {
    const { latchkey } = open();
    await latchkey.limit({ ...request, cost: 3 });
    for (const cost of [0, 1])
      expect(await latchkey.limit({ ...request, limit: 2, cost })).toEqual({
        success: false,
        limit: 2,
        remaining: 0,
        reset: NOON + HOUR_MS,
      });
    expect(await latchkey.limit({ ...request, limit: 5 })).toMatchObject({
      success: true,
      remaining: 1,
    });
  });

  test("namespace, identifier, duration and workspace each select another counter", async () => {
    const context = open();
    const { latchkey } = context;
    await latchkey.limit({ ...request, cost: 3 });
    for (const other of [
      { ...request, namespace: "mail.v1" },
      { ...request, namespace: "Mail" },
      { ...request, identifier: "customer_4" },
      { ...request, identifier: "mail customer_42" },
      { ...request, duration: HOUR_MS + 1 },
    ])
      expect(await latchkey.limit(other)).toMatchObject({ success: true, remaining: 2 });
    expect((await latchkey.workspace("ws_other").limit(request)).remaining).toBe(2);
    expect((await context.another().limit(request)).success).toBe(false);
  });

  test("no two names collide, whatever characters they contain", async () => {
    const { latchkey } = open();
    for (const [namespace, identifier] of [
      ["a", "b:c"],
      ["a:b", "c"],
      ["a.b", "c"],
      ["a", "b.c"],
      ["a", "b\u0001c"],
      ["a", "b c"],
      ["a", "{b}c"],
      ["a", "b*c"],
      ["a", "é\u{1f511}"],
    ] as const)
      expect((await latchkey.limit({ ...request, namespace, identifier, limit: 1 })).success).toBe(
        true,
      );
  });

  test("uses the namespace default if none is given", async () => {
    const { latchkey } = open();
    const { namespace: _, ...bare } = request;
    await latchkey.limit(bare);
    expect((await latchkey.limit({ ...request, namespace: "default" })).remaining).toBe(1);
  });

  test("admits exactly the limit to any number of racing calls and processes", async () => {
    const context = open();
    const other = context.another();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        (at % 2 === 0 ? context.latchkey : other).limit({ ...request, limit: 17 }),
      ),
    );
    expect(answers.filter(({ success }) => success)).toHaveLength(17);
    const left = answers.filter(({ success }) => success).map(({ remaining }) => remaining);
    expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 17 }, (_, at) => at));
  });

  test("is independent of limits of keys and identities", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const ratelimit = { limit: 1, duration: HOUR_MS };
    const { key, keyId } = await latchkey.createKey({ apiId, ratelimit });
    await latchkey.limit({ ...request, namespace: "default", identifier: keyId, limit: 1 });
    expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
  });

  test("gives the same results as the rules of core, step by step, for every algorithm", async () => {
    const context = open();
    const name = { namespace: "oracle", identifier: "x", duration: 50 };
    let stored: LimitState | null = null;
    for (let step = 0; step < 120; step += 1) {
      const [limit, cost] = [1 + ((step * 7) % 5), (step * 11) % 4];
      context.advance((step * 13) % 29);
      const figures = { algorithm: "fixed", limit, duration: 50, burst: limit } as const;
      const before = limitAt(stored, figures, context.now());
      const success = cost <= roomOf(before, figures);
      const after = success ? afterTaking(before, figures, cost) : before;
      expect(await context.latchkey.limit({ ...name, limit, cost })).toEqual({
        success,
        limit,
        remaining: Math.max(0, roomOf(after, figures)),
        reset: after.at + 50,
      });
      if (success) stored = after;
    }
  });

  test.each([
    ["namespace", { namespace: "" }],
    ["namespace", { namespace: "n".repeat(129) }],
    ["namespace", { namespace: "*" }],
    ["namespace", { namespace: "a b" }],
    ["namespace", { namespace: 7 }],
    ["identifier", { identifier: "" }],
    ["identifier", { identifier: "i".repeat(256) }],
    ["identifier", { identifier: "a\0" }],
    ["limit", { limit: 0 }],
    ["limit", { limit: 2 ** 53 }],
    ["duration", { duration: 0 }],
    ["duration", { duration: 1.5 }],
    ["cost", { cost: -1 }],
    ["cost", { cost: null }],
    ["burst", { burst: 1 }],
  ])("a bad %s is refused by name: %j", async (path, fields) => {
    const { latchkey } = open();
    const error = await rejectionOf(latchkey.limit({ ...request, ...fields } as never));
    expect(error.issues).toMatchObject([{ path }]);
  });

  test("accepts the longest names and the largest numbers", async () => {
    const { latchkey } = open();
    const most = {
      limit: Number.MAX_SAFE_INTEGER,
      duration: 2 ** 52,
      cost: Number.MAX_SAFE_INTEGER,
    };
    const longest = { namespace: "n".repeat(128), identifier: "i".repeat(255) };
    expect(await latchkey.limit({ ...longest, ...most })).toEqual({
      success: true,
      limit: most.limit,
      remaining: 0,
      reset: most.duration,
    });
    expect((await latchkey.limit({ ...longest, ...most })).success).toBe(false);
  });
});
