import { expect, test } from "vitest";
import { describeOnEveryStore, describeOnMemoryOrAll } from "./every-store.js";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "./test-context.js";

describeOnMemoryOrAll("the start of a key", (open) => {
  test("is the first instant of use: NOT_STARTED a millisecond before, and nothing is taken", async () => {
    const context = open();
    const { latchkey } = context;
    const startsAt = NOON + HOUR_MS;
    const { apiId, keyId, key } = await issue(context, { startsAt, remaining: 2 });
    const other = context.another();
    context.advance(HOUR_MS - 1);
    const refused = { valid: false, code: "NOT_STARTED", enabled: false, startsAt, remaining: 2 };
    expect(await other.verifyKey({ key })).toMatchObject(refused);
    expect((await latchkey.listKeys({ apiId })).keys).toMatchObject([{ startsAt, enabled: false }]);
    const { checks } = await latchkey.explainKey({ keyId });
    expect(checks).toContainEqual({ check: "start", passed: false, startsAt, retryAfterMs: 1 });
    context.advance(1);
    expect(await other.verifyKey({ key })).toMatchObject({ code: "VALID", remaining: 1 });
    expect(await latchkey.getKey({ keyId })).toMatchObject({ startsAt, enabled: true });
  });
});

describeOnEveryStore("the start of a key", (open) => {
  test("has its own code in the statistics, and can be moved", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId, key } = await issue(context, { startsAt: NOON + DAY_MS });
    await latchkey.verifyKey({ key });
    const { verifications } = await latchkey.getVerifications({
      keyId,
      granularity: "hour",
      start: NOON,
      end: NOON + HOUR_MS,
    });
    expect(verifications).toMatchObject([{ outcomes: { NOT_STARTED: 1 } }]);
    await latchkey.updateKey({ keyId, startsAt: null });
    expect(await context.another().verifyKey({ key })).toMatchObject({ code: "VALID" });
    await latchkey.updateKey({ keyId, startsAt: new Date(NOON + 1) });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "NOT_STARTED" });
  });
});

describeOnMemory("the start of a key", (open) => {
  test("must be earlier than its expiry, whichever of the two is set", async () => {
    const context = open();
    const { latchkey } = context;
    const times = { startsAt: NOON + 5, expires: NOON + 5 };
    const { apiId, keyId } = await issue(context, { startsAt: NOON + 5, expires: NOON + 6 });
    for (const call of [
      latchkey.createKey({ apiId, ...times }),
      latchkey.createKey({ apiId, startsAt: new Date(NOON + 5), expires: new Date(NOON + 5) }),
      latchkey.createKeys([{ apiId, plaintext: "old_3f9c2a7d51e84b06", ...times }]),
      latchkey.updateKey({ keyId, startsAt: NOON + 6 }),
      latchkey.updateKey({ keyId, expires: NOON + 5 }),
      latchkey.createKey({ apiId, startsAt: -1 }),
      latchkey.createKey({ apiId, startsAt: "tomorrow" as never }),
    ]) {
      const { code, issues } = await rejectionOf(call);
      expect(code).toBe("BAD_REQUEST");
      expect(JSON.stringify(issues)).toContain('startsAt"');
    }
    await latchkey.updateKey({ keyId, startsAt: NOON + 9, expires: NOON + 10 });
    await latchkey.updateKey({ keyId, expires: null });
    expect(await latchkey.getKey({ keyId })).toMatchObject({ startsAt: NOON + 9 });
  });

  test("is kept by a successor, and neither key can be used before it", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId, key } = await issue(context, { startsAt: NOON + HOUR_MS });
    const successor = await latchkey.rotateKey({ keyId, graceMs: DAY_MS });
    for (const one of [key, successor.key])
      expect(await latchkey.verifyKey({ key: one })).toMatchObject({ code: "NOT_STARTED" });
    context.advance(HOUR_MS);
    for (const one of [key, successor.key])
      expect(await latchkey.verifyKey({ key: one })).toMatchObject({ code: "VALID" });
  });

  test("takes precedence over later checks, but not over a disabled key, a wrong API or an expiry", async () => {
    const context = open();
    const { latchkey } = context;
    const startsAt = NOON + HOUR_MS;
    const { keyId, key } = await issue(context, { startsAt, ipWhitelist: ["192.0.2.1"] });
    const codeOf = async (question = {}) => (await latchkey.verifyKey({ key, ...question })).code;
    expect(await codeOf({ authorization: { permissions: "docs.read" } })).toBe("NOT_STARTED");
    expect(await codeOf({ apiId: "api_other" })).toBe("FORBIDDEN");
    await latchkey.updateKey({ keyId, enabled: false });
    expect(await codeOf()).toBe("DISABLED");
    // Once enabled, it waits for its start as before.
    await latchkey.updateKey({ keyId, enabled: true });
    expect(await codeOf()).toBe("NOT_STARTED");
    await latchkey.rotateKey({ keyId });
    expect(await codeOf()).toBe("EXPIRED");
  });
});
