import { describe, expect, test } from "vitest";
import { chargeRequestOf, reusedRequestId } from "./idempotency.js";
import { PLAIN_QUESTION as QUESTION, type VerifyQuestion } from "./question.js";

const NOW = 1_000_000;
const LIMIT = { name: "reads", cost: 1, adHoc: null, isOptional: false };

describe("a request", () => {
  test("is remembered for ten minutes", () => {
    expect(chargeRequestOf("retry-1", QUESTION, NOW).rememberUntil).toBe(NOW + 600_000);
  });

  test("has the same id and fingerprint for the same question", () => {
    const { id, fingerprint } = chargeRequestOf("retry-1", QUESTION, NOW);
    expect(chargeRequestOf("retry-1", { ...QUESTION }, NOW + 1)).toMatchObject({ id, fingerprint });
  });

  test.each<[string, Partial<VerifyQuestion>]>([
    ["another cost", { cost: 2 }],
    ["another API", { apiId: "api_1" }],
    ["an address", { address: "192.0.2.7" }],
    ["a permission", { permissions: "docs.read" }],
    ["a limit", { limits: [LIMIT] }],
    ["another cost of a limit", { limits: [{ ...LIMIT, cost: 2 }] }],
    ["limits in another order", { limits: [{ ...LIMIT, name: "writes" }, LIMIT] }],
  ])("with %s has another fingerprint", (_, fields) => {
    const question = { ...QUESTION, ...fields };
    const other =
      "limits" in fields
        ? { ...QUESTION, limits: [LIMIT, { ...LIMIT, name: "writes" }] }
        : QUESTION;
    const { id, fingerprint } = chargeRequestOf("retry-1", other, NOW);
    const request = chargeRequestOf("retry-1", question, NOW);
    expect(request.id).toBe(id);
    expect(request.fingerprint).not.toBe(fingerprint);
  });

  test("reveals nothing of its id or its question", () => {
    const text = JSON.stringify(chargeRequestOf("secret-id", { ...QUESTION, apiId: "api_9" }, NOW));
    expect(text).not.toContain("secret-id");
    expect(text).not.toContain("api_9");
  });

  test("used for another question is a CONFLICT", () => {
    expect(reusedRequestId()).toMatchObject({
      ...{ code: "CONFLICT", reason: "request-id-reused" },
      message: expect.stringContaining("requestId"),
    });
  });
});
