import { expect, test } from "vitest";
import { describeOnMemory, issue } from "../test-context.js";

describeOnMemory("a verification in a disabled workspace", (open) => {
  test("returns FORBIDDEN, takes nothing, and returns the same for an unknown secret", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context, { remaining: 5 });
    const [unknown, mistyped] = ["no-such-key", "x".repeat(513)];
    const codeOf = async (presented: string, dryRun = false) =>
      (await latchkey.verifyKey({ key: presented, dryRun })).code;
    expect(await codeOf(unknown)).toBe("NOT_FOUND");
    await latchkey.verifyKey({ key });
    for (const other of [latchkey, context.another()]) {
      await other.setWorkspaceEnabled(false);
      for (const dryRun of [false, true]) {
        expect([await codeOf(key, dryRun), await codeOf(unknown, dryRun)]).toEqual([
          "FORBIDDEN",
          "FORBIDDEN",
        ]);
        expect(await latchkey.verifyKey({ key, dryRun })).toMatchObject({ keyId, valid: false });
      }
      expect(await latchkey.verifyKey({ key: unknown })).toEqual({
        valid: false,
        code: "FORBIDDEN",
      });
      expect(await latchkey.verifier({})(key)).toMatchObject({ code: "FORBIDDEN" });
      expect(await latchkey.reserve({ key, remaining: { cost: 1 } })).toMatchObject({
        code: "FORBIDDEN",
      });
      // A text that cannot be a secret is refused without reading the store.
      expect(await codeOf(mistyped)).toBe("NOT_FOUND");
      await latchkey.setWorkspaceEnabled(true);
      expect([await codeOf(key, true), await codeOf(unknown)]).toEqual(["VALID", "NOT_FOUND"]);
    }
    expect((await latchkey.getKey({ keyId })).remaining).toBe(4);
  });

  test("a caller limited to one API gets the same for keys of others", async () => {
    const context = open();
    const { latchkey } = context;
    const { key } = await issue(context);
    const elsewhere = await latchkey.createApi({ name: "charts" });
    const codes = async () =>
      [
        await latchkey.verifyKey({ key }, { apiIds: [elsewhere.apiId] }),
        await latchkey.verifyKey({ key, dryRun: true }, { apiIds: [elsewhere.apiId] }),
      ].map(({ code }) => code);
    await latchkey.verifyKey({ key });
    expect(await codes()).toEqual(["NOT_FOUND", "NOT_FOUND"]);
    await context.another().setWorkspaceEnabled(false);
    expect(await codes()).toEqual(["FORBIDDEN", "FORBIDDEN"]);
    await context.another().setWorkspaceEnabled(true);
    expect(await codes()).toEqual(["NOT_FOUND", "NOT_FOUND"]);
  });
});
