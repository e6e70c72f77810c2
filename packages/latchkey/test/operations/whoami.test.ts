import { expect, test } from "vitest";
import { describeOnMemory, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("whoami", (open) => {
  test("returns the key of a secret, and charges nothing", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key, keyId } = await latchkey.createKey({
      apiId,
      name: "harbour office",
      externalId: "harbour_7",
      meta: { plan: "gold" },
      remaining: 1,
      environment: "live",
      ratelimit: { limit: 1, duration: 60_000 },
    });
    const { id } = await latchkey.getIdentity({ externalId: "harbour_7" });
    for (let call = 0; call < 3; call += 1) {
      expect(await latchkey.whoami({ key })).toEqual({
        id: keyId,
        name: "harbour office",
        remaining: 1,
        identity: { id, externalId: "harbour_7", meta: {} },
        meta: { plan: "gold" },
        createdAt: NOON,
        enabled: true,
        environment: "live",
      });
    }
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true, remaining: 0 });
  });

  test("omits fields that a key does not have", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key, keyId } = await latchkey.createKey({ apiId });
    expect(await latchkey.whoami({ key })).toEqual({ id: keyId, createdAt: NOON, enabled: true });
  });

  test("returns keys that no longer verify as not enabled", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const off = await latchkey.createKey({ apiId, enabled: false });
    const dying = await latchkey.createKey({ apiId, expires: NOON + 1 });
    context.advance(1);
    for (const { key, keyId } of [off, dying]) {
      expect(await latchkey.whoami({ key })).toMatchObject({ id: keyId, enabled: false });
    }
  });

  test("does not find deleted keys, keys of other workspaces and other strings", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key, keyId } = await latchkey.createKey({ apiId });
    const elsewhere = latchkey.workspace("ws_elsewhere");
    expect(await rejectionOf(elsewhere.whoami({ key }))).toMatchObject({ code: "NOT_FOUND" });
    await latchkey.deleteKey({ keyId });
    for (const secret of [key, "no such key", "x".repeat(512)]) {
      expect(await rejectionOf(latchkey.whoami({ key: secret }))).toMatchObject({
        code: "NOT_FOUND",
      });
    }
  });

  test("refuses text that cannot be a secret with the bound, without repeating it", async () => {
    const { latchkey } = open();
    for (const key of ["", "x".repeat(513), 7 as unknown as string]) {
      expect(await rejectionOf(latchkey.whoami({ key }))).toMatchObject({
        code: "BAD_REQUEST",
        issues: [{ path: "key", message: "must be a string of 1 to 512 characters" }],
      });
    }
  });
});
