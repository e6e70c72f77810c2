import { expect, test } from "vitest";
import { refuseUsageChange, usesAreOfIdentity } from "./usage-refusal.js";

test("a counter without a limit can only be set", () => {
  expect(refuseUsageChange({ kind: "unlimited" }, "value")).toMatchObject({
    code: "BAD_REQUEST",
    issues: [{ path: "op" }],
  });
});

test("too few uses are a precondition that failed, with how many are left", () => {
  expect(refuseUsageChange({ kind: "insufficient", remaining: 3 }, "value")).toMatchObject({
    code: "PRECONDITION_FAILED",
    reason: "insufficient-uses",
    details: { remaining: 3 },
  });
});

test("more uses than a number holds are an issue of the field that was given", () => {
  expect(refuseUsageChange({ kind: "overflow", remaining: 3 }, "value")).toMatchObject({
    code: "BAD_REQUEST",
    issues: [{ path: "value", message: "must keep remaining at or below 9007199254740991" }],
  });
});

test("uses of an identity are changed there, and the error says so", () => {
  expect(usesAreOfIdentity()).toMatchObject({
    code: "PRECONDITION_FAILED",
    reason: "uses-from-identity",
  });
});
