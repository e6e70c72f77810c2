import { describe, expect, test } from "vitest";
import type { AppliedCharge } from "../store/charge.js";
import { loadedWith } from "../testing/records.js";
import { concludeVerification } from "./conclusion.js";
import type { VerifyDecision } from "./decision.js";
import type { LimitRequest } from "./question.js";

const NOW = 1_000_000;
const charged: AppliedCharge = { kind: "charged", remaining: 4, limits: [] };
const toCharge: VerifyDecision = { kind: "charge", limits: [] };

const conclude = (
  decision: VerifyDecision,
  charge: AppliedCharge = charged,
  requested: readonly LimitRequest[] = [],
) => concludeVerification(loadedWith(), decision, charge, NOW, requested);

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

  test("in a disabled workspace is an error with its reason", () => {
    expect(() => conclude({ kind: "workspace-disabled" })).toThrow(
      expect.objectContaining({ code: "FORBIDDEN", reason: "workspace-disabled" }),
    );
  });

  test("about limits that nothing configures is an error that names each by its place", () => {
    const decision = { kind: "unknown-limits", names: ["x", "y"] } as const;
    const requested = [
      { name: "default", cost: 1, adHoc: null, isOptional: true },
      ...["x", "a", "y"].map((name) => ({ name, cost: 1, adHoc: null, isOptional: false })),
    ];
    expect(() => conclude(decision, charged, requested)).toThrow(
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
