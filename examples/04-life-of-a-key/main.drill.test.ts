import { expect, test } from "vitest";
import { run } from "../testing/run.js";

test("the example shows shared uses, rotation, a dry run, and the audit log and usage afterwards", async () => {
  const { exitCode, stdout, stderr } = await run("04-life-of-a-key/main.mjs");
  expect(stderr).toBe("");
  expect(stdout.trimEnd().split("\n")).toEqual([
    "verified    VALID, 2 left to both",
    "verified    VALID, 1 left to both",
    "rotated     true",
    "dry run     FORBIDDEN: address and permissions would fail",
    "last use    VALID, 0 left to both",
    "spent       USAGE_EXCEEDED",
    "counted     3 valid, 1 refused",
    "logged      key.rotated by billing-service: rotatedTo, expires",
    "logged      key.updated by billing-service: permissions",
    "logged      key.created by billing-service: apiId, name, externalId, usesFrom",
    "heard of    9 kinds of events",
  ]);
  expect(exitCode).toBe(0);
});
