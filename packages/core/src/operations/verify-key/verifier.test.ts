import { describe, expect, test } from "vitest";
import { LatchkeyError } from "../../errors.js";
import type { OperationContext } from "../context.js";
import { makeVerifier } from "./verifier.js";

/** The question is read before anything in the context. */
const make = (question: unknown) => makeVerifier({} as OperationContext, question as never);

class Question {
  get apiId() {
    return "api_1";
  }
}

describe("a question that may require less than it seems to makes no verifier", () => {
  test.each([
    ["apiId", { apiId: undefined }],
    ["permissions", { permissions: undefined }],
    ["ratelimits", { ratelimits: undefined }],
    ["ratelimits.0.limit", { ratelimits: [{ name: "a", limit: undefined, duration: undefined }] }],
    ["apiId", Object.create({ apiId: "api_1" })],
    ["permissions", Object.assign(Object.create({ permissions: "docs.read" }), { cost: 2 })],
    ["cost", Object.create({ cost: 0 })],
    ["apiId", new Question()],
    ["ratelimits.1.cost", { ratelimits: [{ name: "a" }, Object.create({ cost: 0 })] }],
  ])("the error names %s", (field, question) => {
    expect(() => make(question)).toThrow(TypeError);
    expect(() => make(question)).toThrow(`"${field}" must`);
  });

  test.each([null, 7, "docs.read", [], ["docs.read"]])("%j is not a question", (question) => {
    expect(() => make(question)).toThrow(LatchkeyError);
  });
});

test("a question may omit fields, and pass undefined for fields with a default", () => {
  class Question {
    readonly apiId = "api_1";
  }
  for (const question of [
    undefined,
    {},
    { cost: undefined },
    new Question(),
    Object.assign(Object.create(null), { apiId: "api_1" }),
    { ratelimits: [{ name: "a", cost: undefined, fallback: undefined }] },
  ])
    expect(make(question)).toBeTypeOf("function");
});

test("a getter of a question is called once", () => {
  let reads = 0;
  make({
    get apiId() {
      reads += 1;
      return reads === 1 ? "api_1" : undefined;
    },
  });
  expect(reads).toBe(1);
});
