import { describe, expect, test } from "vitest";
import { fixedWindows, identityWith, limitNamed, loadedWith } from "../testing/records.js";
import { decideLimits, IDENTITY_INDEX, KEY_INDEX } from "./limit-precedence.js";
import type { LimitRequest } from "./question.js";

const requestFor = (name: string, fields: Partial<LimitRequest> = {}): LimitRequest => ({
  name,
  cost: 1,
  adHoc: null,
  isOptional: false,
  ...fields,
});

describe("which limits are charged", () => {
  const limitsOf = (...args: Parameters<typeof decideLimits>) => {
    const decision = decideLimits(...args);
    if (decision.unknown.length > 0) throw new Error(`unknown: ${decision.unknown}`);
    return decision.limits;
  };
  const shared = (name: string, limit: number, autoApply = false) => ({
    name,
    ...fixedWindows(limit),
    autoApply,
  });
  const identity = identityWith({ ratelimits: [shared("tokens", 500), shared("default", 700)] });

  test("a key without limits is charged for no limit if none is named", () => {
    expect(limitsOf(loadedWith(), [])).toEqual([]);
  });

  test("the key's limit named default applies by itself, at cost 1", () => {
    expect(limitsOf(loadedWith({ ratelimits: [limitNamed("default", 5, 1_000)] }), [])).toEqual([
      {
        owner: KEY_INDEX,
        window: "1000:default",
        name: "default",
        ...fixedWindows(5, 1_000),
        cost: 1,
      },
    ]);
  });

  test("other limits of the key apply when they are named, after the default", () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("tokens"), limitNamed("default")] });
    expect(limitsOf(loaded, []).map(({ name }) => name)).toEqual(["default"]);
    const named = limitsOf(loaded, [requestFor("tokens", { cost: 7 })]);
    expect(named.map(({ name, cost }) => [name, cost])).toEqual([
      ["default", 1],
      ["tokens", 7],
    ]);
  });

  test("limits of the key with autoApply apply by themselves, at cost 1", () => {
    const loaded = loadedWith({
      ratelimits: [limitNamed("a"), { ...limitNamed("b"), autoApply: true }],
    });
    expect(limitsOf(loaded, [])).toMatchObject([{ name: "b", cost: 1 }]);
  });

  test("limits of the identity do not apply by themselves, not even one named default", () => {
    expect(limitsOf(loadedWith({}, { identity }), [])).toEqual([]);
  });

  describe("a limit of the identity with autoApply", () => {
    const sharing = identityWith({ ratelimits: [shared("tokens", 500, true)] });

    test("applies by itself, at cost 1, after those of the key", () => {
      const loaded = loadedWith({ ratelimits: [limitNamed("default")] }, { identity: sharing });
      expect(limitsOf(loaded, [])).toMatchObject([
        { owner: KEY_INDEX, name: "default" },
        { owner: IDENTITY_INDEX, name: "tokens", cost: 1 },
      ]);
    });

    test("does not apply if the key has one of its name, whether that applies by itself or not", () => {
      const loaded = loadedWith({ ratelimits: [limitNamed("tokens")] }, { identity: sharing });
      expect(limitsOf(loaded, [])).toEqual([]);
    });

    test("is taken from once, at the requested cost", () => {
      const limits = limitsOf(loadedWith({}, { identity: sharing }), [
        requestFor("tokens", { cost: 3 }),
      ]);
      expect(limits).toMatchObject([{ owner: IDENTITY_INDEX, name: "tokens", cost: 3 }]);
    });
  });

  test("a limit of the identity applies when it is named, and counts for the identity", () => {
    expect(limitsOf(loadedWith({}, { identity }), [requestFor("tokens", { cost: 3 })])).toEqual([
      {
        owner: IDENTITY_INDEX,
        window: "60000:tokens",
        name: "tokens",
        ...fixedWindows(500),
        cost: 3,
      },
    ]);
  });

  test("a limit of the key hides one of the identity with the same name", () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("tokens", 5)] }, { identity });
    expect(limitsOf(loaded, [requestFor("tokens")])).toMatchObject([
      { owner: KEY_INDEX, limit: 5 },
    ]);
  });

  test("naming default charges it once, at the cost that was given", () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("default")] });
    expect(limitsOf(loaded, [requestFor("default", { cost: 4 })])).toMatchObject([
      { name: "default", cost: 4 },
    ]);
    expect(limitsOf(loaded, [requestFor("default", { cost: 0 })])).toMatchObject([
      { name: "default", cost: 0 },
    ]);
  });

  test("naming default finds the identity's when the key has none", () => {
    const limits = limitsOf(loadedWith({}, { identity }), [requestFor("default")]);
    expect(limits).toMatchObject([{ owner: IDENTITY_INDEX, limit: 700 }]);
  });

  test("limits come in the order in which they are named", () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("a"), limitNamed("b")] });
    const limits = limitsOf(loaded, [requestFor("b"), requestFor("a")]);
    expect(limits.map(({ name }) => name)).toEqual(["b", "a"]);
  });

  test("an ad-hoc limit needs no configuration: the workspace keeps its window, under the id of the key", () => {
    const adHoc = fixedWindows(9, 500);
    expect(limitsOf(loadedWith(), [requestFor("burst", { adHoc, cost: 2 })])).toEqual([
      {
        owner: null,
        window: "a:key_1:500:burst",
        name: "burst",
        ...fixedWindows(9, 500),
        cost: 2,
      },
    ]);
  });

  test("an ad-hoc limit takes the place of a configured one with its name, of key or identity", () => {
    const adHoc = fixedWindows(9, 500);
    const loaded = loadedWith(
      { ratelimits: [limitNamed("default"), limitNamed("burst")] },
      { identity },
    );
    expect(limitsOf(loaded, [requestFor("default", { adHoc })])).toMatchObject([
      { owner: null, limit: 9 },
    ]);
    expect(limitsOf(loaded, [requestFor("tokens", { adHoc })])[1]).toMatchObject({
      owner: null,
      limit: 9,
    });
  });

  test("an ad-hoc limit counts with the key's limit of the same name and duration, and apart from any other", () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("burst", 10, 60_000)] });
    const windowOf = (duration: number) =>
      limitsOf(loaded, [requestFor("burst", { adHoc: fixedWindows(3, duration) })])[0]?.window;
    expect([59_999, 60_000, 60_001].map(windowOf)).toEqual([
      "a:key_1:59999:burst",
      "60000:burst",
      "a:key_1:60001:burst",
    ]);
  });

  test("names that are not configured are listed, next to the limits that a peek can read", () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("default"), limitNamed("a")] });
    const requested = [requestFor("x"), requestFor("a"), requestFor("y")];
    expect(decideLimits(loaded, requested)).toMatchObject({
      limits: [
        { name: "default", cost: 1 },
        { name: "a", cost: 1 },
      ],
      unknown: ["x", "y"],
    });
  });

  test("a limit of an identity that was deleted counts as not configured", () => {
    const loaded = loadedWith({ identityId: "id_1" }, { identity: null });
    expect(decideLimits(loaded, [requestFor("tokens")])).toEqual({
      limits: [],
      unknown: ["tokens"],
    });
  });

  test("an optional name is ignored if it is not configured, and charged if it is", () => {
    const optional = requestFor("default", { isOptional: true, cost: 3 });
    expect(limitsOf(loadedWith(), [optional])).toEqual([]);
    const loaded = loadedWith({ ratelimits: [limitNamed("default")] });
    expect(limitsOf(loaded, [optional])).toMatchObject([{ name: "default", cost: 3 }]);
  });

  test("optional figures yield to a limit of the key or the identity, and apply where there is none", () => {
    const adHoc = fixedWindows(9, 500);
    const optional = requestFor("tokens", { isOptional: true, adHoc, cost: 3 });
    const key = loadedWith({ ratelimits: [limitNamed("tokens", 5, 1_000)] }, { identity });
    expect(limitsOf(key, [optional])).toMatchObject([{ owner: KEY_INDEX, limit: 5, cost: 3 }]);
    expect(limitsOf(loadedWith({}, { identity }), [optional])).toMatchObject([
      { owner: IDENTITY_INDEX, limit: 500, cost: 3 },
    ]);
    expect(limitsOf(loadedWith(), [optional])).toEqual(
      limitsOf(loadedWith(), [{ ...optional, isOptional: false }]),
    );
  });

  test("ad-hoc limits of rotated keys count together: a rotation opens no new window", () => {
    const adHoc = fixedWindows(9, 500);
    const windowOf = (fields: Parameters<typeof loadedWith>[0]) =>
      limitsOf(loadedWith(fields), [requestFor("burst", { adHoc })])[0]?.window;
    const first = windowOf({ id: "key_1" });
    expect(windowOf({ id: "key_2", sharedCountersId: "key_1" })).toBe(first);
    expect(windowOf({ id: "key_2" })).not.toBe(first);
  });
});
