import { expect, test } from "vitest";
import { openService, START } from "../testing/open-service.js";

const HOUR_MS = 3_600_000;
const HOUR_AT = START - (START % HOUR_MS);
const range = { start: START, end: START + HOUR_MS, granularity: "hour" };

async function open() {
  const service = await openService();
  const { apiId } = await service.ok("apis.createApi", { name: "payments" });
  const { keyId, key } = await service.ok("keys.createKey", { apiId, externalId: "user_1" });
  const { id: identityId } = await service.latchkey.getIdentity({ externalId: "user_1" });
  return { service, apiId, keyId, key, identityId };
}

test("counts verifications by verdict, in every bucket that the range touches", async () => {
  const { service, apiId, keyId, key, identityId } = await open();
  await service.ok("keys.verifyKey", { key });
  await service.ok("keys.verifyKey", { key, apiId: "api_other" });
  const outcomes = { VALID: 1, FORBIDDEN: 1 };
  const counted = { success: 1, rateLimited: 0, usageExceeded: 0, outcomes };
  const none = { success: 0, rateLimited: 0, usageExceeded: 0, outcomes: {} };
  for (const subject of [{ keyId }, { apiId }, { identityId }, { externalId: "user_1" }]) {
    expect(await service.ok("keys.getVerifications", { ...subject, ...range })).toEqual({
      verifications: [
        { time: HOUR_AT, ...counted },
        { time: HOUR_AT + HOUR_MS, ...none },
      ],
    });
  }
});

test("an old client that sends ownerId without a granularity gets buckets of days", async () => {
  const { service, key } = await open();
  await service.ok("keys.verifyKey", { key });
  const { verifications } = await service.ok("keys.getVerifications", {
    ownerId: "user_1",
    start: START,
    end: START + 1,
  });
  expect(verifications).toMatchObject([{ success: 1, rateLimited: 0, usageExceeded: 0 }]);
});

test.each([
  { input: {}, path: "" },
  { input: { keyId: "key_1", apiId: "api_1" }, path: "" },
  { input: { keyId: "key_1", end: START }, path: "end" },
  { input: { keyId: "key_1", end: START + 31 * 24 * HOUR_MS + 1 }, path: "end" },
  { input: { keyId: "key_1", start: "yesterday" }, path: "start" },
  { input: { keyId: "key_1", granularity: "week" }, path: "granularity" },
])("answers 400 to $input", async ({ input, path }) => {
  const { service } = await open();
  const { status, body } = await service.call("keys.getVerifications", { ...range, ...input });
  expect([status, body.error.issues[0].path]).toEqual([400, path]);
});

test("is 404 for a record that does not exist or belongs to another workspace", async () => {
  const { service, keyId, apiId, identityId } = await open();
  const { key: token } = await service.latchkey
    .workspace("ws_2")
    .createRootKey({ permissions: ["*"] });
  for (const subject of [{ keyId }, { apiId }, { identityId }, { externalId: "user_1" }]) {
    const input = { ...subject, ...range };
    expect((await service.call("keys.getVerifications", input, { token })).status).toBe(404);
  }
});

test("a listed key shows when it was last used, once the statistics are written", async () => {
  const { service, keyId, key } = await open();
  await service.ok("keys.verifyKey", { key });
  await service.ok("keys.getVerifications", { keyId, ...range });
  expect(await service.ok("keys.getKey", { keyId })).toMatchObject({ lastUsedAt: START });
});
