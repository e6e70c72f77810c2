import type { VerifierInput } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "../every-store.js";
import { describeOnMemory, expectRefused, HOUR_MS, issue } from "../test-context.js";

describeOnEveryStore("a verifier", (open) => {
  test("admits exactly the remaining uses, and refuses a key as soon as it is revoked", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId, key } = await issue(context, { remaining: 10 });
    const verify = latchkey.verifier({ cost: 3 });
    const codes = await Promise.all([1, 2, 3, 4, 5].map(async () => (await verify(key)).code));
    expect(codes.sort()).toEqual(["USAGE_EXCEEDED", "USAGE_EXCEEDED", "VALID", "VALID", "VALID"]);
    await context.another().updateKey({ keyId, enabled: false });
    expect((await verify(key)).code).toBe("DISABLED");
    await context.another().deleteKey({ keyId });
    expect(await verify(key)).toEqual({ valid: false, code: "NOT_FOUND" });
  });

  test("with a ttl reserves at the cost of the call, until the reservation is settled or the ttl is over", async () => {
    const context = open();
    const { latchkey } = context;
    const { key } = await issue(context, { remaining: 10 });
    const verify = latchkey.verifier({ cost: 3, ttl: "1m" });
    const now = latchkey.now();
    const reserved = await verify(key);
    expect(reserved).toMatchObject({ code: "VALID", remaining: 7, expiresAt: now + 60_000 });
    if (reserved.code !== "VALID" || reserved.reservationId === undefined)
      throw new Error("nothing was reserved");
    const { reservationId } = reserved;
    await latchkey.settle({ reservationId, remaining: { cost: 1 } });
    expect(await verify(key, { cost: 9 })).toMatchObject({ code: "VALID", remaining: 0 });
    expect((await verify(key)).code).toBe("USAGE_EXCEEDED");
    context.advance(60_000);
    expect(await verify(key)).toMatchObject({ code: "VALID", remaining: 6 });
  });
});

describeOnMemory("a verifier", (open) => {
  test("gives the same answers as verifyKey to any question", async () => {
    const context = open();
    const { latchkey } = context;
    await latchkey.createPermission({ name: "tides.*" });
    const settings = {
      permissions: ["tides.*"],
      remaining: 100,
      ratelimits: [{ name: "charts", limit: 50, duration: HOUR_MS }],
    };
    const { apiId, key } = await issue(context, settings);
    const twin = await latchkey.createKey({ ...settings, apiId });
    const questions: readonly VerifierInput[] = [
      {},
      { apiId },
      { apiId: "api_other" },
      { permissions: "tides.read" },
      { permissions: { or: ["tides", { and: ["tides.read", "charts.read"] }] } },
      { cost: 0 },
      { cost: 200 },
      { ratelimits: [{ name: "charts", cost: 20 }] },
      { ratelimits: [{ name: "charts", cost: 20 }] },
      { ratelimits: [{ name: "charts", cost: 20 }] },
      { ratelimits: [{ name: "burst", limit: 2, duration: 1_000 }] },
    ];
    for (const question of questions) {
      const { permissions, cost, ...rest } = question;
      const asked = {
        ...rest,
        ...(permissions !== undefined && { authorization: { permissions } }),
        ...(cost !== undefined && { remaining: { cost } }),
      };
      const verdict = await latchkey.verifier(question)(key);
      const expected = await latchkey.verifyKey({ key: twin.key, ...asked });
      expect({ ...verdict, keyId: null }).toEqual({ ...expected, keyId: null });
    }
  });

  test("accepts an address, a request id and tags with each key", async () => {
    const tags: unknown[] = [];
    const context = open({ onEvent: (event) => tags.push("tags" in event && event.tags) });
    const { latchkey } = context;
    const { apiId, key } = await issue(context, { remaining: 5 });
    await latchkey.updateApi({ apiId, ipWhitelist: ["192.0.2.0/24"] });
    const verify = latchkey.verifier();
    expect((await verify(key)).code).toBe("FORBIDDEN");
    const call = { ipAddress: "192.0.2.7", requestId: "r1", tags: ["path=/tides"] };
    expect(await verify(key, call)).toMatchObject({ code: "VALID", remaining: 4 });
    expect(await verify(key, call)).toMatchObject({ code: "VALID", remaining: 4 });
    expect(tags.at(-1)).toEqual(["path=/tides"]);
    await expectRefused("CONFLICT", [latchkey.verifier({ cost: 2 })(key, call)]);
  });

  test("names all bad fields of its question at creation, and those of a call in the call", async () => {
    const { latchkey } = open();
    expect(() =>
      latchkey.verifier({ cost: -1, ttl: 999, ratelimits: [{ name: "" }], unknown: 1 } as never),
    ).toThrow(
      expect.objectContaining({
        code: "BAD_REQUEST",
        issues: expect.arrayContaining([
          expect.objectContaining({ path: "cost" }),
          expect.objectContaining({ path: "ttl" }),
          expect.objectContaining({ path: "ratelimits.0.name" }),
          expect.objectContaining({ path: "unknown" }),
        ]),
      }),
    );
    const verify = latchkey.verifier();
    await expect(verify("k", { ipAddress: "nowhere", apiId: "a" } as never)).rejects.toMatchObject({
      issues: [{ path: "ipAddress" }, { path: "apiId" }],
    });
    await expect(verify(7 as never)).rejects.toMatchObject({ issues: [{ path: "key" }] });
    await expect(verify("k", null as never)).rejects.toMatchObject({ code: "BAD_REQUEST" });
    expect(await verify("")).toEqual({ valid: false, code: "NOT_FOUND" });
  });

  test("refuses an unknown limit with each call", async () => {
    const context = open();
    const { key } = await issue(context, {});
    const verify = context.latchkey.verifier({ ratelimits: [{ name: "charts" }] });
    for (const _ of [1, 2])
      await expect(verify(key)).rejects.toMatchObject({ issues: [{ path: "ratelimits.0.name" }] });
  });
});
