import { describe, expect, test } from "vitest";
import type { AppliedCharge } from "../store/charge.js";
import { fixedWindows, limitNamed, loadedWith } from "../testing/records.js";
import { judgeRecords, verdictOnCharge, verdictOnRefusal } from "./judge.js";
import type { LoadedKey } from "./loaded-key.js";
import { PLAIN_QUESTION, type VerifyQuestion } from "./question.js";

const NOW = 1_000_000;
const NOTHING = { limits: [], cost: 1 };
const DISABLED_WORKSPACE = { id: "ws_default", name: null, enabled: false, version: 1 };
const charged: AppliedCharge = { kind: "charged", remaining: 4, limits: [] };

const questionWith = (fields: Partial<VerifyQuestion>): VerifyQuestion => ({
  ...PLAIN_QUESTION,
  ...fields,
});

/** What the records decide about a question: why they refuse, or to charge. */
function answerOf(loaded: LoadedKey, question: VerifyQuestion): string {
  const refusal = judgeRecords(loaded, question, NOW);
  if (refusal === null) return "charge";
  return refusal === "workspace-disabled" ? refusal : refusal.code;
}

function refuse(loaded: LoadedKey, fields: Partial<VerifyQuestion> = {}) {
  const question = questionWith(fields);
  return verdictOnRefusal(loaded, question, judgeRecords(loaded, question, NOW), charged, NOW);
}

describe("what the records decide", () => {
  test("a flawless key is charged", () => {
    expect(answerOf(loadedWith(), PLAIN_QUESTION)).toBe("charge");
  });

  test("in a disabled workspace no key is charged, not even a flawless one", () => {
    const loaded = loadedWith({}, { workspace: DISABLED_WORKSPACE });
    expect(answerOf(loaded, PLAIN_QUESTION)).toBe("workspace-disabled");
  });

  test("a key that is switched off is DISABLED", () => {
    expect(answerOf(loadedWith({ enabled: false }), PLAIN_QUESTION)).toBe("DISABLED");
  });

  test.each([
    { expires: NOW + 1, answer: "charge" },
    { expires: NOW, answer: "EXPIRED" },
    { expires: NOW - 1, answer: "EXPIRED" },
  ])(
    "for a key that expires at $expires, the answer at 1000000 is $answer",
    ({ expires, answer }) => {
      expect(answerOf(loadedWith({ expires }), PLAIN_QUESTION)).toBe(answer);
    },
  );

  test.each([
    { apiId: null, answer: "charge" },
    { apiId: "api_1", answer: "charge" },
    { apiId: "api_2", answer: "FORBIDDEN" },
  ])("a key of api_1, verified with apiId $apiId, is answered $answer", ({ apiId, answer }) => {
    expect(answerOf(loadedWith(), questionWith({ apiId }))).toBe(answer);
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
      expect(answerOf(loaded, questionWith({ address }))).toBe(answer);
    },
  );

  test("a key without a wanted permission has INSUFFICIENT_PERMISSIONS, one with it is charged", () => {
    const question = questionWith({ permissions: { and: ["docs.read", "docs.write"] } });
    expect(answerOf(loadedWith({}, { permissions: ["docs.read"] }), question)).toBe(
      "INSUFFICIENT_PERMISSIONS",
    );
    expect(answerOf(loadedWith({}, { permissions: ["docs.*"] }), question)).toBe("charge");
  });

  test("a question without permissions is fine for a key that has none", () => {
    expect(answerOf(loadedWith(), questionWith({ permissions: null }))).toBe("charge");
  });

  test("names of roles are not permissions", () => {
    const loaded = loadedWith({}, { roles: ["admin"] });
    expect(answerOf(loaded, questionWith({ permissions: "admin" }))).toBe(
      "INSUFFICIENT_PERMISSIONS",
    );
  });
});

describe("the verdict that the store has confirmed", () => {
  test.each([
    { kind: "charged", code: "VALID" },
    { kind: "rate-limited", code: "RATE_LIMITED" },
    { kind: "usage-exceeded", code: "USAGE_EXCEEDED" },
  ] as const)("on a charge which came to $kind is $code", ({ kind, code }) => {
    expect(verdictOnCharge(loadedWith(), NOTHING, { ...charged, kind }, NOW)).toMatchObject({
      valid: code === "VALID",
      code,
      remaining: 4,
    });
  });

  test("on a refusal is that refusal, whatever the counters say", () => {
    const expired = loadedWith({ expires: NOW });
    expect(refuse(expired)).toMatchObject({ valid: false, code: "EXPIRED" });
  });

  test("on a key that has not started does not say when to try again", () => {
    const verdict = refuse(loadedWith({ startsAt: NOW + 5 }));
    expect(verdict).toMatchObject({ code: "NOT_STARTED", startsAt: NOW + 5 });
    expect(verdict).not.toHaveProperty("retryAfterMs");
  });

  test("on missing permissions shows which part of the query is missing", () => {
    const permissions = { or: ["docs.read", { and: ["docs.write", "docs.list"] }] };
    expect(refuse(loadedWith(), { permissions })).toMatchObject({ missing: permissions });
    expect(refuse(loadedWith({ enabled: false }), { permissions })).not.toHaveProperty("missing");
  });

  test("shows the duration of each evaluated window, matched by name: a remembered answer may be older", () => {
    const limit = { name: "tiles", ...fixedWindows(), cost: 1, window: "w", owner: 0 };
    const state = { at: NOW, used: 1, earlier: [] };
    const reading = { limit: 10, remaining: 9, resetAt: NOW + 1, exceeded: false, state };
    const limits = ["tiles", "gone"].map((name) => ({ ...reading, name }));
    const taken = { limits: [limit], cost: 1 };
    expect(verdictOnCharge(loadedWith(), taken, { ...charged, limits }, NOW)).toMatchObject({
      ratelimits: [
        { name: "tiles", duration: 60_000 },
        expect.not.objectContaining({ duration: expect.anything() }),
      ],
    });
  });

  test("names a limit without figures after one with figures by its index in the input", () => {
    const adHoc = fixedWindows(5, 1_000);
    const limits = [
      { name: "own", cost: 1, adHoc, isOptional: true },
      { name: "x", cost: 1, adHoc: null, isOptional: false },
    ];
    expect(() => refuse(loadedWith(), { limits })).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ path: "ratelimits.1.name" })] }),
    );
  });

  test("in a disabled workspace is FORBIDDEN, and names the key", () => {
    const verdict = refuse(loadedWith({}, { workspace: DISABLED_WORKSPACE }));
    expect(verdict).toMatchObject({ valid: false, code: "FORBIDDEN", keyId: expect.any(String) });
  });

  test("about limits that are not configured is an error that names each by its index", () => {
    const known = loadedWith({ ratelimits: [limitNamed("a", 1)] });
    const limits = [
      { name: "default", cost: 1, adHoc: null, isOptional: true },
      ...["x", "a", "y"].map((name) => ({ name, cost: 1, adHoc: null, isOptional: false })),
    ];
    expect(() => refuse(known, { limits })).toThrow(
      expect.objectContaining({
        code: "BAD_REQUEST",
        reason: "unknown-limit",
        message: expect.stringContaining("must name a limit of the key or its identity"),
        details: { keyId: known.key.id },
        issues: [
          expect.objectContaining({ path: "ratelimits.0.name" }),
          expect.objectContaining({ path: "ratelimits.2.name" }),
        ],
      }),
    );
  });
});
