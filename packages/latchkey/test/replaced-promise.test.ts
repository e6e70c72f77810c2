import { afterEach, expect, test, vi } from "vitest";
import { describeOnEveryStore } from "./every-store.js";

afterEach(() => {
  vi.unstubAllGlobals();
});

describeOnEveryStore("a host with a Promise of its own, as that of zone.js", (open) => {
  test("creates, verifies, changes and refuses keys", async () => {
    vi.stubGlobal("Promise", class extends Promise<unknown> {});
    const { latchkey, another } = open();
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: 400 });
    for (const each of [latchkey, another()]) {
      expect((await each.verifyKey({ key })).code).toBe("VALID");
      const verdicts = await Promise.all(
        Array.from({ length: 150 }, () => each.verifyKey({ key })),
      );
      expect(new Set(verdicts.map(({ code }) => code))).toEqual(new Set(["VALID"]));
    }
    expect((await latchkey.getKey({ keyId })).remaining).toBe(98);
    await latchkey.updateKey({ keyId, enabled: false });
    expect((await latchkey.verifyKey({ key })).code).toBe("DISABLED");
    await expect(latchkey.getKey({ keyId: "key_none" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});
