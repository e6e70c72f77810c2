import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { LatchkeyError } from "../../errors.js";
import { parseInput } from "../../lib/parse-input.js";
import { evenWithIssues } from "../input.js";
import { addSettingsIssues, keySettingsFields } from "./settings.js";

const schema = z.strictObject(keySettingsFields).superRefine(addSettingsIssues, evenWithIssues);
const refill = { interval: "daily", amount: 1 };
const limit = { limit: 1, duration: 1 };

function pathsOf(fields: object): string[] {
  try {
    parseInput(schema, { apiId: "api_1", ...fields });
    return [];
  } catch (error) {
    return (error as LatchkeyError).issues.map(({ path }) => path);
  }
}

describe("whose uses a key takes", () => {
  test.each<[object, string[]]>([
    [{ usesFrom: "key" }, []],
    [{ usesFrom: "key", remaining: 1, refill }, []],
    [{ usesFrom: "identity", externalId: "u" }, []],
    [{ usesFrom: "identity", ownerId: "u" }, []],
    [{ usesFrom: "identity" }, ["usesFrom"]],
    [{ usesFrom: "identity", externalId: "u", remaining: 1 }, ["remaining"]],
    [{ usesFrom: "identity", externalId: "u", refill }, ["refill"]],
    [{ usesFrom: "identity", externalId: "u", remaining: 1, refill }, ["remaining", "refill"]],
    [{ usesFrom: "identity", remaining: 1, refill }, ["usesFrom", "remaining", "refill"]],
    [{ refill }, ["refill"]],
    [{ remaining: 1, refill }, []],
  ])("%j: issues of %j", (fields, paths) => {
    expect(pathsOf(fields)).toEqual(paths);
  });
});

describe("the limit named default", () => {
  test.each<[object, string[]]>([
    [{ ratelimit: limit }, []],
    [{ ratelimits: [{ ...limit, name: "default" }] }, []],
    [{ ratelimit: limit, ratelimits: [{ ...limit, name: "a" }] }, []],
    [{ ratelimit: limit, ratelimits: [{ ...limit, name: "default", async: false }] }, []],
    [{ ratelimit: limit, ratelimits: [{ ...limit, name: "default", limit: 9 }] }, ["ratelimits"]],
    [
      { ratelimit: limit, ratelimits: [{ ...limit, name: "default", async: true }] },
      ["ratelimits"],
    ],
    [{ ratelimit: limit, ratelimits: [{ ...limit, name: "Default" }] }, []],
    [{ ratelimit: limit, ratelimits: "default" }, ["ratelimits"]],
    [{ ratelimits: [{ ...limit, name: "default", autoApply: true }] }, []],
    [
      {
        ratelimits: [
          { ...limit, name: "a", autoApply: false },
          { ...limit, name: "default", autoApply: false },
        ],
      },
      ["ratelimits.1.autoApply"],
    ],
    [{ ratelimits: [{ ...limit, name: "Default", autoApply: false }] }, []],
    [
      { ratelimit: limit, ratelimits: [null, "default", 7] },
      ["ratelimits.0", "ratelimits.1", "ratelimits.2"],
    ],
  ])("%j: issues of %j", (fields, paths) => {
    expect(pathsOf(fields)).toEqual(paths);
  });
});

test("rules between fields are reported beside issues of single fields, whatever those hold", () => {
  const { issues } = (() => {
    try {
      parseInput(schema, { apiId: 7, usesFrom: "identity", remaining: "x", refill: 1, extra: 1 });
    } catch (error) {
      return error as LatchkeyError;
    }
    throw new Error("expected a refusal");
  })();
  expect(issues.map(({ path }) => path)).toEqual([
    "apiId",
    "remaining",
    "refill",
    "extra",
    "usesFrom",
    "remaining",
    "refill",
  ]);
});

test("defaults: the key's own uses, enabled, not recoverable", () => {
  expect(parseInput(schema, { apiId: "api_1" })).toEqual({
    apiId: "api_1",
    usesFrom: "key",
    enabled: true,
    recoverable: false,
  });
});
