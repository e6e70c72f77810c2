import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";

async function open() {
  const latchkey = createLatchkey({ store: memoryStore(), clock: () => Date.UTC(2031, 0, 1) });
  const { apiId } = await latchkey.createApi({ name: "tides" });
  const made = await latchkey.createKey({
    apiId,
    remaining: 1,
    ratelimit: { limit: 10, duration: 60_000 },
  });
  return { latchkey, apiId, ...made };
}

describe("explainKey", () => {
  test("returns the same as a dry run with the key's secret, and takes nothing", async () => {
    const { latchkey, key, keyId, apiId } = await open();
    const question = { apiId, authorization: { permissions: "tides.read" } };
    const explained = await latchkey.explainKey({ keyId, ...question });
    expect(explained).toEqual(await latchkey.verifyKey({ key, ...question, dryRun: true }));
    expect(explained).toMatchObject({ code: "INSUFFICIENT_PERMISSIONS" });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "VALID", remaining: 0 });
    expect(await latchkey.explainKey({ keyId })).toMatchObject({ code: "USAGE_EXCEEDED" });
  });

  test("is NOT_FOUND for a key outside of this workspace", async () => {
    const { latchkey, keyId } = await open();
    await expect(latchkey.explainKey({ keyId: "key_none" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(latchkey.workspace("ws_other").explainKey({ keyId })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("accepts no secret, and nothing that leaves a trace", async () => {
    const { latchkey, keyId } = await open();
    const input = { keyId, key: "secret", requestId: "one", tags: ["a"] };
    await expect(latchkey.explainKey(input)).rejects.toMatchObject({
      code: "BAD_REQUEST",
      issues: ["key", "requestId", "tags"].map((path) => ({
        path,
        message: "is not a known field",
      })),
    });
  });
});
