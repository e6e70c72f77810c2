import { expect, test } from "vitest";
import { describeOnEveryStore } from "../every-store.js";

/** Runs `work` while `Object.prototype` has an additional field. */
async function polluted<Result>(
  name: string,
  value: unknown,
  work: () => Promise<Result>,
): Promise<Result> {
  const prototype = Object.prototype as Record<string, unknown>;
  prototype[name] = value;
  try {
    return await work();
  } finally {
    delete prototype[name];
  }
}

describeOnEveryStore("what is added to Object.prototype", (open) => {
  test("gives no permission to a key without any", async () => {
    const { latchkey, another } = open();
    const { apiId } = await latchkey.createApi({ name: "maps" });
    await latchkey.ensurePermissions(["tiles.read"]);
    const [permission] = await latchkey.listPermissions();
    const { key } = await latchkey.createKey({ apiId });
    const authorization = { permissions: "tiles.read" };
    const verdict = await polluted("permissions", [permission?.id], () =>
      another().verifyKey({ key, authorization }),
    );
    expect(verdict).toMatchObject({ valid: false, code: "INSUFFICIENT_PERMISSIONS" });
  });

  test("does not make an unknown limit pass", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { key } = await latchkey.createKey({ apiId });
    const asked = polluted("fallback", true, () =>
      latchkey.verifyKey({ key, ratelimits: [{ name: "tiles" }] }),
    );
    await expect(asked).rejects.toMatchObject({ reason: "unknown-limit" });
  });

  test.each([
    ["a field that nobody knows", "merged", true],
    ["a field of a limit", "autoApply", true],
    ["the number of the layout of records", "format", 9],
  ])("is not written: %s", async (_, name, value) => {
    const { latchkey, another } = open();
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const settings = {
      apiId,
      remaining: 3,
      refill: { interval: "daily", amount: 3 },
      ratelimits: [{ name: "tiles", limit: 1, duration: 60_000 }],
      meta: { plan: { name: "small" } },
    } as const;
    const shown = async ({ keyId }: { readonly keyId: string }) => {
      const { id, start, ...fields } = await another().getKey({ keyId });
      return fields;
    };
    const expected = await shown(await latchkey.createKey(settings));
    const key = await polluted(name, value, () => latchkey.createKey(settings));
    expect(await shown(key)).toEqual(expected);
  });
});
