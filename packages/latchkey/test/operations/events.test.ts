import type { EventListener, LatchkeyEvent } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("events", (open) => {
  /** A context with a key, and a latchkey whose events are noted. */
  async function listening(fields: Parameters<typeof issue>[1] = {}) {
    const context = open();
    const ids = await issue(context, fields);
    const heard: LatchkeyEvent[] = [];
    const latchkey = context.another({ onEvent: (event) => heard.push(event) });
    return { ...context, ...ids, heard, latchkey };
  }

  test("tell of a verdict, with the key, its identity and the caller's tags", async () => {
    const { latchkey, heard, key, keyId, apiId } = await listening({ externalId: "pier-7" });
    const { id: identityId } = await latchkey.getIdentity({ externalId: "pier-7" });
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key, tags: ["gate=north"] });
    const about = { workspaceId: "ws_default", at: NOON, keyId, apiId, identityId };
    expect(heard).toEqual([
      { type: "key.verified", ...about, code: "VALID" },
      { type: "key.verified", ...about, code: "VALID", tags: ["gate=north"] },
    ]);
  });

  test("tell of a secret that no key has, and nothing of the secret", async () => {
    const { latchkey, heard } = await listening();
    await latchkey.verifyKey({ key: "no such key", tags: ["gate=north"] });
    expect(heard).toEqual([
      {
        type: "key.verified",
        workspaceId: "ws_default",
        at: NOON,
        code: "NOT_FOUND",
        tags: ["gate=north"],
      },
    ]);
  });

  test("tell of the verification that took the last use, once", async () => {
    const { latchkey, heard, key, keyId } = await listening({ remaining: 2 });
    for (let index = 0; index < 3; index += 1) await latchkey.verifyKey({ key });
    expect(heard.map(({ type }) => type)).toEqual([
      "key.verified",
      "key.verified",
      "key.exhausted",
      "key.verified",
    ]);
    expect(heard[2]).toMatchObject({ keyId, at: NOON });
  });

  test("tell of no last use where a verification costs none", async () => {
    const { latchkey, heard, key } = await listening({ remaining: 2 });
    await latchkey.verifyKey({ key, remaining: { cost: 0 } });
    await latchkey.verifyKey({ key, remaining: { cost: 2 } });
    await latchkey.verifyKey({ key, remaining: { cost: 0 } });
    expect(heard.filter(({ type }) => type === "key.exhausted")).toHaveLength(1);
  });

  test("tell of a key that was presented after its expiry", async () => {
    const { latchkey, heard, key, keyId, advance } = await listening({ expires: NOON + 1_000 });
    await latchkey.verifyKey({ key });
    advance(1_000);
    await latchkey.verifyKey({ key });
    expect(heard.slice(1)).toMatchObject([
      { type: "key.verified", code: "EXPIRED", keyId },
      { type: "key.expired", keyId, expiredAt: NOON + 1_000, at: NOON + 1_000 },
    ]);
  });

  test("name every verdict by its code", async () => {
    const { latchkey, heard, key, keyId } = await listening({
      remaining: 1,
      ratelimit: { limit: 2, duration: HOUR_MS },
    });
    await latchkey.verifyKey({ key, apiId: "api_other" });
    await latchkey.verifyKey({ key, authorization: { permissions: "tides.read" } });
    await latchkey.verifyKey({ key, ratelimit: { cost: 3 } });
    await latchkey.verifyKey({ key, remaining: { cost: 2 } });
    await latchkey.updateKey({ keyId, enabled: false });
    await latchkey.verifyKey({ key });
    const codes = heard.flatMap((event) => (event.type === "key.verified" ? [event.code] : []));
    expect(codes).toEqual([
      "FORBIDDEN",
      "INSUFFICIENT_PERMISSIONS",
      "RATE_LIMITED",
      "USAGE_EXCEEDED",
      "DISABLED",
    ]);
  });

  test("tell of no verdict where there was none", async () => {
    const { latchkey, heard, key } = await listening();
    await rejectionOf(latchkey.verifyKey({ key, ratelimits: [{ name: "nope" }] }));
    await rejectionOf(latchkey.verifyKey({ key: "" }));
    expect(heard).toEqual([]);
  });

  test("tell of nothing that was refused", async () => {
    const { latchkey, heard, apiId, keyId } = await listening();
    await rejectionOf(latchkey.createKey({ apiId, roles: ["nope"], externalId: "pier-7" }));
    await rejectionOf(latchkey.updateKey({ keyId: "key_unknown", name: "n" }));
    await rejectionOf(latchkey.updateRemaining({ keyId, op: "decrement", value: 1 }));
    expect(heard).toEqual([]);
  });

  test("name the identity only where this call made it: only the store knows another's id", async () => {
    const { latchkey, heard, apiId } = await listening({ externalId: "pier-7" });
    await latchkey.createKey({ apiId, externalId: "pier-8" });
    await latchkey.createKey({ apiId, externalId: "pier-7" });
    const { id: identityId } = await latchkey.getIdentity({ externalId: "pier-8" });
    expect(heard.map(({ type }) => type)).toEqual([
      "identity.created",
      "key.created",
      "key.created",
    ]);
    expect(heard[1]).toMatchObject({ identityId });
    expect(heard[2]).not.toHaveProperty("identityId");
  });

  describe.each<{ readonly kind: string; readonly onEvent: EventListener }>([
    {
      kind: "that throws",
      onEvent: () => {
        throw new Error("the listener is broken");
      },
    },
    { kind: "that rejects", onEvent: () => Promise.reject(new Error("the listener is broken")) },
    {
      kind: "that rejects with a promise of another library",
      onEvent: () => ({
        // biome-ignore lint/suspicious/noThenProperty: what makes it a promise
        then: (_resolve: unknown, reject?: (error: Error) => void) => {
          // As such a library does where nobody listens.
          if (reject === undefined) throw new Error("unhandled");
          reject(new Error("the listener is broken"));
        },
      }),
    },
    { kind: "that never settles", onEvent: () => new Promise(() => undefined) },
    {
      kind: "whose answer cannot be waited for",
      onEvent: () => ({
        // biome-ignore lint/suspicious/noThenProperty: a listener may answer anything
        get then() {
          throw new Error("the listener is broken");
        },
      }),
    },
  ])("to a listener $kind", ({ onEvent }) => {
    test("change nothing and hold nothing up", async () => {
      const context = open();
      const { key, keyId, apiId } = await issue(context, { remaining: 1, expires: NOON + HOUR_MS });
      const latchkey = context.another({ onEvent });
      expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "VALID" });
      expect(await latchkey.verifyKey({ key: "no such key" })).toMatchObject({ code: "NOT_FOUND" });
      expect(await latchkey.updateKey({ keyId, name: "north" })).toEqual({});
      expect(await latchkey.createKey({ apiId })).toHaveProperty("key");
      expect(await latchkey.deleteApi({ apiId })).toEqual({});
      await latchkey.close();
    });
  });

  test("come in the order in which things happened", async () => {
    const { latchkey, heard, key, keyId } = await listening();
    await latchkey.verifyKey({ key });
    await latchkey.updateKey({ keyId, name: "north" });
    await latchkey.deleteKey({ keyId });
    await latchkey.verifyKey({ key });
    expect(heard.map(({ type }) => type)).toEqual([
      "key.verified",
      "key.updated",
      "key.deleted",
      "key.verified",
    ]);
  });
});
