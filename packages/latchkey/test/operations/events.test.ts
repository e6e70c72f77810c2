import {
  type EventListener,
  interceptStore,
  type KeyStore,
  LatchkeyError,
  type LatchkeyEvent,
} from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "../test-context.js";
import { wrapped } from "../wrapped-store.js";

describeOnMemory("events", (open) => {
  /** A context with a key, and a latchkey that collects its events. */
  async function listening(fields: Parameters<typeof issue>[1] = {}) {
    const context = open();
    const ids = await issue(context, fields);
    const events: LatchkeyEvent[] = [];
    const latchkey = context.another({ onEvent: (event) => events.push(event) });
    return { ...context, ...ids, events, latchkey };
  }

  test("contain the verdict, the key, its identity and the caller's tags", async () => {
    const { latchkey, events, key, keyId, apiId } = await listening({ externalId: "pier-7" });
    const { id: identityId } = await latchkey.getIdentity({ externalId: "pier-7" });
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key, tags: ["gate=north"] });
    const about = {
      type: "key.verified",
      workspaceId: "ws_default",
      at: NOON,
      durationMs: 0,
      keyId,
      apiId,
      identityId,
      code: "VALID",
    };
    expect(events).toEqual([
      { ...about, cached: false },
      { ...about, cached: true, tags: ["gate=north"] },
    ]);
  });

  test("report an unknown secret without any part of it", async () => {
    const { latchkey, events } = await listening();
    await latchkey.verifyKey({ key: "no such key", tags: ["gate=north"] });
    expect(events).toEqual([
      {
        type: "key.verified",
        workspaceId: "ws_default",
        at: NOON,
        durationMs: 0,
        code: "NOT_FOUND",
        cached: false,
        tags: ["gate=north"],
      },
    ]);
  });

  test("name the verification that took the last use, once", async () => {
    const { latchkey, events, key, keyId } = await listening({ remaining: 2 });
    for (let index = 0; index < 3; index += 1) await latchkey.verifyKey({ key });
    expect(events.map(({ type }) => type)).toEqual([
      "key.verified",
      "key.verified",
      "key.exhausted",
      "key.verified",
    ]);
    expect(events[2]).toMatchObject({ keyId, at: NOON });
  });

  test("name no last use for a verification with no cost", async () => {
    const { latchkey, events, key } = await listening({ remaining: 2 });
    await latchkey.verifyKey({ key, remaining: { cost: 0 } });
    await latchkey.verifyKey({ key, remaining: { cost: 2 } });
    await latchkey.verifyKey({ key, remaining: { cost: 0 } });
    expect(events.filter(({ type }) => type === "key.exhausted")).toHaveLength(1);
  });

  test("name a key that is presented after its expiry", async () => {
    const { latchkey, events, key, keyId, advance } = await listening({ expires: NOON + 1_000 });
    await latchkey.verifyKey({ key });
    advance(1_000);
    await latchkey.verifyKey({ key });
    expect(events.slice(1)).toMatchObject([
      { type: "key.verified", code: "EXPIRED", keyId },
      { type: "key.expired", keyId, expiredAt: NOON + 1_000, at: NOON + 1_000 },
    ]);
  });

  test("report the outcome of a reservation, and its expiry once, whichever process notices it", async () => {
    const { latchkey, events, key, keyId, advance, another } = await listening({
      externalId: "pier-7",
      remaining: 10,
    });
    const { id: identityId } = await latchkey.getIdentity({ externalId: "pier-7" });
    const reserve = async () => {
      const verdict = await latchkey.reserve({ key, remaining: { cost: 4 }, ttl: "1m" });
      return verdict.code === "VALID" ? verdict.reservationId : "";
    };
    const settled = await reserve();
    const lost = await reserve();
    events.length = 0;
    await latchkey.settle({ reservationId: settled, remaining: { cost: 3 } });
    advance(60_000);
    await latchkey.getKey({ keyId });
    await another().getKey({ keyId });
    await latchkey.getKey({ keyId });
    const about = { workspaceId: "ws_default", durationMs: 0, keyId, identityId };
    const taken = { uses: 3, ratelimits: [] };
    expect(events).toEqual([
      { type: "reservation.settled", ...about, at: NOON, reservationId: settled, ...taken },
      {
        type: "reservation.expired",
        ...about,
        at: NOON + 60_000,
        reservationId: lost,
        expiredAt: NOON + 60_000,
      },
    ]);
  });

  test("name every verdict by its code", async () => {
    const { latchkey, events, key, keyId } = await listening({
      remaining: 1,
      ratelimit: { limit: 2, duration: HOUR_MS },
    });
    await latchkey.verifyKey({ key, apiId: "api_other" });
    await latchkey.verifyKey({ key, authorization: { permissions: "tides.read" } });
    await latchkey.verifyKey({ key, ratelimit: { cost: 3 } });
    await latchkey.verifyKey({ key, remaining: { cost: 2 } });
    await latchkey.updateKey({ keyId, enabled: false });
    await latchkey.verifyKey({ key });
    const codes = events.flatMap((event) => (event.type === "key.verified" ? [event.code] : []));
    expect(codes).toEqual([
      "FORBIDDEN",
      "INSUFFICIENT_PERMISSIONS",
      "RATE_LIMITED",
      "USAGE_EXCEEDED",
      "DISABLED",
    ]);
  });

  test("contain no verdict if there was none", async () => {
    const { latchkey, events, key } = await listening();
    await rejectionOf(latchkey.verifyKey({ key, ratelimits: [{ name: "nope" }] }));
    await rejectionOf(latchkey.verifyKey({ key: 7 as never }));
    expect(events).toEqual([]);
  });

  test("are not emitted for a refused change", async () => {
    const { latchkey, events, apiId, keyId } = await listening();
    await rejectionOf(latchkey.createKey({ apiId, roles: ["nope"], externalId: "pier-7" }));
    await rejectionOf(latchkey.updateKey({ keyId: "key_unknown", name: "n" }));
    await rejectionOf(latchkey.updateRemaining({ keyId, op: "decrement", value: 1 }));
    expect(events).toEqual([]);
  });

  test("name the identity of a key, whether it is new or not", async () => {
    const { latchkey, events, apiId } = await listening({ externalId: "pier-7" });
    await latchkey.createKey({ apiId, externalId: "pier-8" });
    await latchkey.createKey({ apiId, externalId: "pier-7" });
    const identityOf = async (externalId: string) =>
      (await latchkey.getIdentity({ externalId })).id;
    expect(events).toMatchObject([
      { type: "identity.created", identityId: await identityOf("pier-8") },
      { type: "key.created", identityId: await identityOf("pier-8") },
      { type: "key.created", identityId: await identityOf("pier-7") },
    ]);
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
          // Like such a library without a listener.
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
      const latchkey = context.another({ onEvent, onError: () => undefined });
      expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "VALID" });
      expect(await latchkey.verifyKey({ key: "no such key" })).toMatchObject({ code: "NOT_FOUND" });
      expect(await latchkey.updateKey({ keyId, name: "north" })).toEqual({});
      expect(await latchkey.createKey({ apiId })).toHaveProperty("key");
      expect(await latchkey.deleteApi({ apiId })).toEqual({});
      await latchkey.close();
    });
  });

  test("report that a cached key had to be read again because it has changed", async () => {
    const { latchkey, events, key, keyId, another } = await listening();
    await latchkey.verifyKey({ key });
    await another().updateKey({ keyId, name: "north" });
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key });
    const cached = events.flatMap((event) => (event.type === "key.verified" ? event.cached : []));
    expect(cached).toEqual([false, false, true]);
  });

  describe("of a store that fails", () => {
    const away = new LatchkeyError("STORE_UNAVAILABLE", "gone for a moment", {
      outcome: "unknown",
    });

    /** A latchkey whose store takes 5 ms for every call, with some methods replaced. */
    function listeningTo(methods: Partial<KeyStore>) {
      const context = open();
      const events: LatchkeyEvent[] = [];
      const store = interceptStore(wrapped(context.store, methods), (_, run) => {
        context.advance(5);
        return run();
      });
      const latchkey = context.another({ store, onEvent: (event) => events.push(event) });
      return { ...context, latchkey, events };
    }

    test("report the failed call, its error and its duration; the caller gets the same error", async () => {
      const { latchkey, events } = listeningTo({ commit: () => Promise.reject(away) });
      await expect(latchkey.createApi({ name: "tide tables" })).rejects.toBe(away);
      const about = { workspaceId: "ws_default", at: NOON + 5, durationMs: 5 };
      expect(events).toEqual([
        {
          type: "store.failed",
          ...about,
          method: "commit",
          code: "STORE_UNAVAILABLE",
          outcome: "unknown",
        },
      ]);
    });

    test("are also emitted if a charge throws synchronously, or if the error is not latchkey's", async () => {
      const broken = new TypeError("not a function");
      const { latchkey, events } = listeningTo({
        charge: () => {
          throw broken;
        },
      });
      const { apiId } = await latchkey.createApi({ name: "tide tables" });
      const { key } = await latchkey.createKey({ apiId });
      await expect(latchkey.verifyKey({ key })).rejects.toBe(broken);
      expect(events.at(-1)).toMatchObject({
        type: "store.failed",
        method: "charge",
        code: "INTERNAL_SERVER_ERROR",
      });
      expect(events.at(-1)).not.toHaveProperty("outcome");
    });

    test("are also emitted for calls that nobody waits for", async () => {
      const { latchkey, events } = listeningTo({
        addStatistics: () => Promise.reject(away),
      });
      const { apiId } = await latchkey.createApi({ name: "tide tables" });
      const { key, keyId } = await latchkey.createKey({ apiId });
      await latchkey.verifyKey({ key });
      await latchkey.getVerifications({ keyId });
      const failed = events.filter(({ type }) => type === "store.failed");
      expect(failed).toMatchObject([{ method: "addStatistics" }]);
    });

    test("are not emitted if the store merely refuses", async () => {
      const { latchkey, events } = listeningTo({});
      await latchkey.createPermission({ name: "tides.read" });
      await rejectionOf(latchkey.createPermission({ name: "tides.read" }));
      await rejectionOf(latchkey.getKey({ keyId: "key_unknown" }));
      expect(events.map(({ type }) => type)).toEqual(["permission.created"]);
    });
  });

  test("contain the duration of a change, from its first read to its commit", async () => {
    const context = open();
    const events: LatchkeyEvent[] = [];
    const store = interceptStore(context.store, (_, run) => {
      context.advance(20);
      return run();
    });
    const latchkey = context.another({ store, onEvent: (event) => events.push(event) });
    await latchkey.createApi({ name: "tide tables" });
    expect(events).toMatchObject([{ type: "api.created", durationMs: 20 }]);
  });

  test("come in order", async () => {
    const { latchkey, events, key, keyId } = await listening();
    await latchkey.verifyKey({ key });
    await latchkey.updateKey({ keyId, name: "north" });
    await latchkey.deleteKey({ keyId });
    await latchkey.verifyKey({ key });
    expect(events.map(({ type }) => type)).toEqual([
      "key.verified",
      "key.updated",
      "key.deleted",
      "key.verified",
    ]);
  });
});
