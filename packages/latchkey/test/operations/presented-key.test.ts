import { expect, test } from "vitest";
import { describeOnMemory, issue } from "../test-context.js";
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

  test("the longest key is looked for", async () => {
    const context = open();
    const { apiId } = await issue(context);
    const plaintext = "k".repeat(512);
    await context.latchkey.createKeys([{ apiId, plaintext }]);
    expect((await context.latchkey.verifyKey({ key: plaintext })).code).toBe("VALID");
  });

  test("is read once: a getter that answers another text the next time decides nothing", async () => {
    const context = open();
    const { key } = await issue(context);
    for (const question of [{}, { remaining: { cost: 0 } }]) {
      let reads = 0;
      const input = {
        ...question,
        get key() {
          reads += 1;
          return reads === 1 ? key : (7 as never);
        },
      };
      expect(await context.latchkey.verifyKey(input)).toMatchObject({ valid: true });
      expect(reads).toBe(1);
    }
  });

  test("a random byte string is not looked for when its checksum is wrong", async () => {
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
