import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, rejectionOf } from "../test-context.js";

const MINUTE_MS = 60_000;

const MESSAGE =
  'must be a whole number of ms from 1 to 2^52, or the same in seconds, minutes, hours or days, such as "30s", "1m", "1h" or "1d"';

describeOnMemory("the duration of a limit", (open) => {
  test("is written in ms or with a unit, and read in ms", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId } = await issue(context, {
      ratelimit: { limit: 5, duration: "30s" },
      ratelimits: [
        { name: "hourly", limit: 50, duration: "1h" },
        { name: "daily", limit: 500, duration: DAY_MS },
      ],
    });
    const limits = async () =>
      (await latchkey.getKey({ keyId })).ratelimits?.map(({ name, duration }) => [name, duration]);
    expect(await limits()).toEqual([
      ["default", 30_000],
      ["hourly", HOUR_MS],
      ["daily", DAY_MS],
    ]);
    await latchkey.updateKey({
      keyId,
      ratelimit: { limit: 5, duration: "1m" },
      ratelimits: [{ name: "daily", limit: 500, duration: "1d" }],
    });
    expect(await limits()).toEqual([
      ["default", MINUTE_MS],
      ["daily", DAY_MS],
    ]);
    const { identityId } = await latchkey.createIdentity({
      externalId: "pier-7",
      ratelimits: [{ name: "shared", limit: 9, duration: "2h" }],
    });
    expect((await latchkey.getIdentity({ identityId })).ratelimits[0]?.duration).toBe(2 * HOUR_MS);
  });

  test("names the same window with a unit and in ms, for a key, a request and a namespace", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context);
    const ask = async (duration: number | `${number}m`) => {
      const ratelimits = [{ name: "bursts", limit: 3, duration }];
      const verdict = await latchkey.verifyKey({ key, ratelimits });
      return verdict.code === "VALID" ? verdict.ratelimit?.remaining : verdict.code;
    };
    expect([await ask("1m"), await ask(MINUTE_MS), await ask("1m")]).toEqual([2, 1, 0]);
    const verify = latchkey.verifier({
      ratelimits: [{ name: "bursts", limit: 3, duration: "1m" }],
    });
    expect((await verify(key)).code).toBe("RATE_LIMITED");
    await latchkey.resetLimit({ keyId, name: "bursts", duration: "1m" });
    expect(await ask(MINUTE_MS)).toBe(2);
    const login = { namespace: "login", identifier: "192.0.2.7", limit: 5 };
    expect((await latchkey.limit({ ...login, duration: "1h" })).remaining).toBe(4);
    expect((await latchkey.limit({ ...login, duration: HOUR_MS })).remaining).toBe(3);
  });

  test("of the limit named default may be given in both ways at once", async () => {
    const context = open();
    const { keyId } = await issue(context, {
      ratelimit: { limit: 5, duration: "1m" },
      ratelimits: [{ name: "default", limit: 5, duration: MINUTE_MS }],
    });
    expect((await context.latchkey.getKey({ keyId })).ratelimits).toHaveLength(1);
  });

  test.each([
    0,
    -1,
    0.5,
    "",
    "1",
    "0s",
    "01s",
    "1.5h",
    "-1s",
    "1 m",
    "1M",
    "1w",
    "100000000s",
    null,
  ])("of %j is refused by name, and nothing is written", async (duration) => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const ratelimits = [{ name: "bursts", limit: 5, duration: duration as number }];
    for (const [call, path] of [
      [latchkey.createKey({ apiId, ratelimits }), "ratelimits.0.duration"],
      [latchkey.createIdentity({ externalId: "pier-7", ratelimits }), "ratelimits.0.duration"],
      [latchkey.verifyKey({ key: "x", ratelimits }), "ratelimits.0.duration"],
      [latchkey.limit({ identifier: "a", limit: 1, duration: duration as number }), "duration"],
    ] as const)
      expect((await rejectionOf(call)).issues).toEqual([{ path, message: MESSAGE }]);
    expect((await latchkey.listKeys({ apiId })).total).toBe(0);
  });
});
