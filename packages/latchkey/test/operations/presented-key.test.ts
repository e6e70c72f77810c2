import { describe, expect, test } from "vitest";
import { describeOnMemory, expectRefused, issue } from "../test-context.js";
import { wrapped } from "../wrapped-store.js";

describeOnMemory("a presented key", (open) => {
  test.each([
    ["an empty key", ""],
    ["a key of 513 characters", "k".repeat(513)],
    ["a key of a million characters", "k".repeat(1_000_000)],
  ])("%s is NOT_FOUND, whatever the question, and no store is read", async (_, key) => {
    const context = open();
    const latchkey = context.another({
      store: wrapped(context.store, {
        read: () => Promise.reject(new Error("the store was read")),
      }),
    });
    for (const question of [{}, { remaining: { cost: 2 } }, { apiId: "api_none" }])
      expect(await latchkey.verifyKey({ key, ...question })).toEqual({
        valid: false,
        code: "NOT_FOUND",
      });
    expect(await latchkey.verifyKey({ key, dryRun: true })).toMatchObject({ code: "NOT_FOUND" });
  });

  test("the longest key is looked up", async () => {
    const context = open();
    const { apiId } = await issue(context);
    const plaintext = "k".repeat(512);
    await context.latchkey.createKeys([{ apiId, plaintext }]);
    expect((await context.latchkey.verifyKey({ key: plaintext })).code).toBe("VALID");
  });

  describe("is read once from a getter with changing values", () => {
    /** An input whose key has each of these values in turn, and the number of reads. */
    function changing(question: object, ...keys: readonly unknown[]) {
      const counted = { reads: 0 };
      const get = () => keys[counted.reads++];
      const input = Object.defineProperty({ ...question }, "key", { get, enumerable: true });
      return { counted, input: input as { readonly key: string } };
    }

    test.each([
      ["nothing else is given", {}],
      ["it is read without the schema", { remaining: { cost: 0 } }],
      ["the schema reads it", { ratelimit: { cost: 0 } }],
    ])("the first value decides if %s", async (_, question) => {
      const context = open();
      const { key } = await issue(context);
      const { input, counted } = changing(question, key, 7);
      expect(await context.latchkey.verifyKey(input)).toMatchObject({ valid: true });
      expect(counted).toEqual({ reads: 1 });
    });

    test.each([
      ["the first value is not a text", {}, 7],
      ["the first value is undefined", {}, undefined],
      ["another field is bad", { requestId: 7 }, "k"],
      ["another field is unknown", { unknown: 7 }, "k"],
    ])("no later value is read if %s", async (_, question, first) => {
      const context = open();
      const { key } = await issue(context);
      const { input, counted } = changing(question, first, key, key);
      await expectRefused("BAD_REQUEST", [context.latchkey.verifyKey(input)]);
      expect(counted).toEqual({ reads: 1 });
    });
  });

  test("a random secret with a wrong checksum is not looked up", async () => {
    const context = open();
    const { key } = await issue(context);
    let reads = 0;
    const counting = context.another({
      store: wrapped(context.store, {
        read: (workspaceId, wants) => {
          reads += 1;
          return context.store.read(workspaceId, wants);
        },
      }),
    });
    const damaged = `${key.slice(0, -1)}${key.endsWith("x") ? "y" : "x"}`;
    expect(await counting.verifyKey({ key: damaged })).toEqual({ valid: false, code: "NOT_FOUND" });
    expect(reads).toBe(0);
    expect(await counting.verifyKey({ key })).toMatchObject({ valid: true });
    expect(reads).toBeGreaterThan(0);
  });
});
