import { describe, expect, test } from "vitest";
import { identityWith, limitNamed, loadedWith } from "../testing/records.js";
import {
  decideLimits,
  decideVerification,
  type LimitRequest,
  planCharge,
  type VerifyQuestion,
} from "./verify.js";

const NOW = 1_000_000;
const QUESTION: VerifyQuestion = {
  apiId: null,
  address: null,
  permissions: null,
  cost: 1,
  limits: [],
};

const asking = (fields: Partial<VerifyQuestion>): VerifyQuestion => ({ ...QUESTION, ...fields });
const requestFor = (name: string, fields: Partial<LimitRequest> = {}): LimitRequest => ({
  name,
  cost: 1,
  adHoc: null,
  isOptional: false,
  ...fields,
});

describe("what the records say", () => {
  test("a key about which nothing is wrong is charged", () => {
    expect(decideVerification(loadedWith(), QUESTION, NOW)).toEqual({ kind: "charge", limits: [] });
  });

  test("in a disabled workspace no key is decided on: that is an error, not a verdict", () => {
    const loaded = loadedWith(
      {},
      { workspace: { id: "ws_default", name: null, enabled: false, epoch: 1 } },
    );
    expect(decideVerification(loaded, QUESTION, NOW)).toEqual({ kind: "workspace-disabled" });
  });

  test("a key that is switched off is DISABLED", () => {
    const decision = decideVerification(loadedWith({ enabled: false }), QUESTION, NOW);
    expect(decision).toEqual({ kind: "refuse", code: "DISABLED" });
  });

  test.each([
    { expires: NOW + 1, answer: "charge" },
    { expires: NOW, answer: "EXPIRED" },
    { expires: NOW - 1, answer: "EXPIRED" },
  ])(
    "at $expires, of a key that expires then, the answer at 1000000 is $answer",
    ({ expires, answer }) => {
      const decision = decideVerification(loadedWith({ expires }), QUESTION, NOW);
      expect(decision.kind === "refuse" ? decision.code : decision.kind).toBe(answer);
    },
  );

  test.each([
    { apiId: null, answer: "charge" },
    { apiId: "api_1", answer: "charge" },
    { apiId: "api_2", answer: "FORBIDDEN" },
  ])("a key of api_1, asked for with apiId $apiId, is answered $answer", ({ apiId, answer }) => {
    const decision = decideVerification(loadedWith(), asking({ apiId }), NOW);
    expect(decision.kind === "refuse" ? decision.code : decision.kind).toBe(answer);
  });

  test.each([
    { ipWhitelist: [], address: null, answer: "charge" },
    { ipWhitelist: [], address: "192.0.2.7", answer: "charge" },
    { ipWhitelist: ["192.0.2.0/24", "2001:db8::/32"], address: "192.0.2.7", answer: "charge" },
    { ipWhitelist: ["192.0.2.0/24", "2001:db8::/32"], address: "2001:db8::7", answer: "charge" },
    { ipWhitelist: ["192.0.2.0/24", "2001:db8::/32"], address: "192.0.3.7", answer: "FORBIDDEN" },
    { ipWhitelist: ["192.0.2.0/24", "2001:db8::/32"], address: null, answer: "FORBIDDEN" },
  ])(
    "a key of an API for $ipWhitelist, presented from $address, is answered $answer",
    ({ ipWhitelist, address, answer }) => {
      const loaded = loadedWith({}, { api: { ...loadedWith().api, ipWhitelist } });
      const decision = decideVerification(loaded, asking({ address }), NOW);
      expect(decision.kind === "refuse" ? decision.code : decision.kind).toBe(answer);
    },
  );

  test("a key without a wanted permission has INSUFFICIENT_PERMISSIONS, one with it is charged", () => {
    const question = asking({ permissions: { and: ["docs.read", "docs.write"] } });
    expect(
      decideVerification(loadedWith({}, { permissions: ["docs.read"] }), question, NOW),
    ).toEqual({
      kind: "refuse",
      code: "INSUFFICIENT_PERMISSIONS",
    });
    expect(
      decideVerification(loadedWith({}, { permissions: ["docs.*"] }), question, NOW).kind,
    ).toBe("charge");
  });

  test("a question without permissions is answered for a key that has none", () => {
    expect(decideVerification(loadedWith(), asking({ permissions: null }), NOW).kind).toBe(
      "charge",
    );
  });

  test("names of roles are no permissions", () => {
    const loaded = loadedWith({}, { roles: ["admin"] });
    expect(decideVerification(loaded, asking({ permissions: "admin" }), NOW).kind).toBe("refuse");
  });
});

describe("which limits are charged", () => {
  const limitsOf = (...args: Parameters<typeof decideLimits>) => {
    const decision = decideLimits(...args);
    if (decision.kind !== "charge") throw new Error(`decided ${decision.kind}`);
    return decision.limits;
  };
  const shared = (name: string, limit: number, autoApply = false) => ({
    name,
    limit,
    duration: 60_000,
    autoApply,
  });
  const identity = identityWith({ ratelimits: [shared("tokens", 500), shared("default", 700)] });

  test("a key without limits, asked for none, is charged none", () => {
    expect(limitsOf(loadedWith(), [])).toEqual([]);
  });

  test("the key's limit named default applies by itself, at cost 1", () => {
    expect(limitsOf(loadedWith({ ratelimits: [limitNamed("default", 5, 1_000)] }), [])).toEqual([
      { owner: "key", isConfigured: true, name: "default", limit: 5, duration: 1_000, cost: 1 },
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

  test("limits of the key that are to apply by themselves do, at cost 1", () => {
    const loaded = loadedWith({
      ratelimits: [limitNamed("a"), { ...limitNamed("b"), autoApply: true }],
    });
    expect(limitsOf(loaded, [])).toMatchObject([{ name: "b", cost: 1 }]);
  });

  test("limits of the identity do not apply by themselves, not even one named default", () => {
    expect(limitsOf(loadedWith({}, { identity }), [])).toEqual([]);
  });

  describe("a limit of the identity that is to apply by itself", () => {
    const sharing = identityWith({ ratelimits: [shared("tokens", 500, true)] });

    test("does, at cost 1, after those of the key", () => {
      const loaded = loadedWith({ ratelimits: [limitNamed("default")] }, { identity: sharing });
      expect(limitsOf(loaded, [])).toMatchObject([
        { owner: "key", name: "default" },
        { owner: "identity", name: "tokens", cost: 1 },
      ]);
    });

    test("does not where the key has one of its name, whether that applies by itself or not", () => {
      const loaded = loadedWith({ ratelimits: [limitNamed("tokens")] }, { identity: sharing });
      expect(limitsOf(loaded, [])).toEqual([]);
    });

    test("is taken from once, at the cost that was named", () => {
      const limits = limitsOf(loadedWith({}, { identity: sharing }), [
        requestFor("tokens", { cost: 3 }),
      ]);
      expect(limits).toMatchObject([{ owner: "identity", name: "tokens", cost: 3 }]);
    });
  });

  test("a limit of the identity applies when it is named, and counts for the identity", () => {
    expect(limitsOf(loadedWith({}, { identity }), [requestFor("tokens", { cost: 3 })])).toEqual([
      {
        owner: "identity",
        isConfigured: true,
        name: "tokens",
        limit: 500,
        duration: 60_000,
        cost: 3,
      },
    ]);
  });

  test("a limit of the key hides one of the identity with the same name", () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("tokens", 5)] }, { identity });
    expect(limitsOf(loaded, [requestFor("tokens")])).toMatchObject([{ owner: "key", limit: 5 }]);
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
    expect(limits).toMatchObject([{ owner: "identity", limit: 700 }]);
  });

  test("limits come in the order in which they are named", () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("a"), limitNamed("b")] });
    const limits = limitsOf(loaded, [requestFor("b"), requestFor("a")]);
    expect(limits.map(({ name }) => name)).toEqual(["b", "a"]);
  });

  test("an ad-hoc limit is a limit of the key, whatever nobody configured", () => {
    const adHoc = { limit: 9, duration: 500 };
    expect(limitsOf(loadedWith(), [requestFor("burst", { adHoc, cost: 2 })])).toEqual([
      { owner: "key", isConfigured: false, name: "burst", limit: 9, duration: 500, cost: 2 },
    ]);
  });

  test("an ad-hoc limit takes the place of a configured one with its name, of key or identity", () => {
    const adHoc = { limit: 9, duration: 500 };
    const loaded = loadedWith(
      { ratelimits: [limitNamed("default"), limitNamed("burst")] },
      { identity },
    );
    expect(limitsOf(loaded, [requestFor("default", { adHoc })])).toMatchObject([
      { owner: "key", limit: 9 },
    ]);
    expect(limitsOf(loaded, [requestFor("tokens", { adHoc })])[1]).toMatchObject({
      owner: "key",
      limit: 9,
    });
  });

  test("an ad-hoc limit counts with the key's limit of the same name and duration, and apart from any other", () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("burst", 10, 60_000)] });
    const isConfigured = (duration: number) =>
      limitsOf(loaded, [requestFor("burst", { adHoc: { limit: 3, duration } })])[0]?.isConfigured;
    expect([isConfigured(59_999), isConfigured(60_000), isConfigured(60_001)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test("names that nothing configures are an error that lists them all, and nothing is charged", () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("default"), limitNamed("a")] });
    const requested = [requestFor("x"), requestFor("a"), requestFor("y")];
    expect(decideLimits(loaded, requested)).toEqual({ kind: "unknown-limits", names: ["x", "y"] });
  });

  test("a limit of an identity that was deleted is one that nothing configures", () => {
    const loaded = loadedWith({ identityId: "id_1" }, { identity: null });
    expect(decideLimits(loaded, [requestFor("tokens")])).toEqual({
      kind: "unknown-limits",
      names: ["tokens"],
    });
  });

  test("an optional name that nothing configures is passed over, one that is configured is charged", () => {
    const optional = requestFor("default", { isOptional: true, cost: 3 });
    expect(limitsOf(loadedWith(), [optional])).toEqual([]);
    const loaded = loadedWith({ ratelimits: [limitNamed("default")] });
    expect(limitsOf(loaded, [optional])).toMatchObject([{ name: "default", cost: 3 }]);
  });
});

describe("the plan of the atomic step", () => {
  const loaded = loadedWith(
    {
      identityId: "id_1",
      version: 3,
      refill: { interval: "daily", amount: 9 },
      ratelimits: [limitNamed("default")],
    },
    {
      identity: identityWith({ version: 5 }),
      workspace: { id: "ws_default", name: null, enabled: true, epoch: 7 },
    },
  );

  test("carries what the decision was made on, the cost, the refill as data and the limits", () => {
    const decision = decideVerification(loaded, asking({ cost: 2 }), NOW);
    expect(planCharge(loaded, asking({ cost: 2 }), decision, NOW)).toEqual({
      workspaceId: "ws_default",
      keyId: "key_1",
      identityId: "id_1",
      sharedCountersId: null,
      usesFrom: "key",
      handle: undefined,
      request: undefined,
      now: NOW,
      expects: { keyVersion: 3, identityVersion: 5, epoch: 7 },
      mode: "take",
      cost: 2,
      refill: { amount: 9, dueAt: 0 },
      limits: [
        {
          owner: "key",
          isConfigured: true,
          name: "default",
          limit: 10,
          duration: 60_000,
          cost: 1,
        },
      ],
    });
  });

  test("of a key without a refill and without an identity has neither", () => {
    const plain = loadedWith();
    const plan = planCharge(plain, QUESTION, decideVerification(plain, QUESTION, NOW), NOW);
    expect(plan).toMatchObject({
      identityId: null,
      refill: null,
      expects: { identityVersion: null },
    });
  });

  test("of a key whose identity was deleted expects that there is none", () => {
    const orphan = loadedWith({ identityId: "id_1" }, { identity: null });
    const plan = planCharge(orphan, QUESTION, decideVerification(orphan, QUESTION, NOW), NOW);
    expect(plan).toMatchObject({ identityId: "id_1", expects: { identityVersion: null } });
  });

  test.each([
    { label: "a refusal", decision: { kind: "refuse", code: "DISABLED" } as const },
    { label: "a disabled workspace", decision: { kind: "workspace-disabled" } as const },
    { label: "unknown limits", decision: { kind: "unknown-limits", names: ["x"] } as const },
  ])("that confirms $label looks: it takes no use and no limit", ({ decision }) => {
    const plan = planCharge(loaded, asking({ cost: 2 }), decision, NOW);
    expect(plan).toMatchObject({
      mode: "look",
      cost: 0,
      limits: [],
      expects: { keyVersion: 3, epoch: 7 },
    });
  });
});
