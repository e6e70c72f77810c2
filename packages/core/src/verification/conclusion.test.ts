import { describe, expect, test } from "vitest";
import type { AppliedCharge } from "../store/charge.js";
import { loadedWith } from "../testing/records.js";
import { concludeVerification } from "./conclusion.js";
import type { VerifyDecision } from "./decision.js";
import { PLAIN_QUESTION, type VerifyQuestion } from "./question.js";

const NOW = 1_000_000;
const charged: AppliedCharge = { kind: "charged", remaining: 4, limits: [] };
const toCharge: VerifyDecision = { kind: "charge", limits: [] };

const conclude = (
  decision: VerifyDecision,
  charge: AppliedCharge = charged,
  question: Partial<VerifyQuestion> = {},
) => concludeVerification(loadedWith(), decision, charge, NOW, { ...PLAIN_QUESTION, ...question });

describe("the verdict on a confirmed decision", () => {
  test.each([
    { kind: "charged", code: "VALID" },
    { kind: "rate-limited", code: "RATE_LIMITED" },
    { kind: "usage-exceeded", code: "USAGE_EXCEEDED" },
  ] as const)("to charge, which came to $kind, is $code", ({ kind, code }) => {
    expect(conclude(toCharge, { ...charged, kind })).toMatchObject({
      valid: code === "VALID",
      code,
      remaining: 4,
    });
  });

  test("to refuse is that refusal, whatever the counters say", () => {
    const decision = { kind: "refuse", code: "EXPIRED" } as const;
    expect(conclude(decision)).toMatchObject({ valid: false, code: "EXPIRED" });
  });

  test("to refuse for want of permissions says which part of the query is missing", () => {
    const decision = { kind: "refuse", code: "INSUFFICIENT_PERMISSIONS" } as const;
    const permissions = { or: ["docs.read", { and: ["docs.write", "docs.list"] }] };
    expect(conclude(decision, charged, { permissions })).toMatchObject({ missing: permissions });
    expect(
      conclude({ kind: "refuse", code: "DISABLED" }, charged, { permissions }),
    ).not.toHaveProperty("missing");
  });

  test("says how long each window is that was evaluated, and by name: a remembered answer may be older", () => {
    const limit = { name: "tiles", limit: 10, duration: 60_000, cost: 1, window: "w", owner: 0 };
    const reading = { limit: 10, remaining: 9, resetAt: NOW + 1, exceeded: false };
    const limits = ["tiles", "gone"].map((name) => ({ ...reading, name }));
    expect(conclude({ kind: "charge", limits: [limit] }, { ...charged, limits })).toMatchObject({
      ratelimits: [
        { name: "tiles", duration: 60_000 },
        expect.not.objectContaining({ duration: expect.anything() }),
      ],
    });
  });

  test("in a disabled workspace is an error with its reason", () => {
    expect(() => conclude({ kind: "workspace-disabled" })).toThrow(
      expect.objectContaining({ code: "FORBIDDEN", reason: "workspace-disabled" }),
    );
  });

  test("about limits that nothing configures is an error that names each by its place", () => {
    const decision = { kind: "unknown-limits", names: ["x", "y"] } as const;
    const limits = [
      { name: "default", cost: 1, adHoc: null, isOptional: true },
      ...["x", "a", "y"].map((name) => ({ name, cost: 1, adHoc: null, isOptional: false })),
    ];
    expect(() => conclude(decision, charged, { limits })).toThrow(
      expect.objectContaining({
        code: "BAD_REQUEST",
        issues: [
          expect.objectContaining({ path: "ratelimits.0.name" }),
          expect.objectContaining({ path: "ratelimits.2.name" }),
        ],
      }),
    );
  });
});
