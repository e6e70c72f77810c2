import { describe, expect, test } from "vitest";
import { identityWith, keyWith } from "../testing/records.js";
import { countedFor, countsOfCharge, countsOfRefusal, subjectsOf } from "./counted-subjects.js";

const key = keyWith({ tags: ["beta", "eu"], uncountedTags: ["beta"] });
const BARE = { keyId: "key_1", apiId: "api_1", identityId: null, tags: [] };

describe("a verification is counted", () => {
  test("for its key and API, its identity, and its tags, or as `other` for tags that are not counted", () => {
    expect(countedFor({ key, identity: identityWith() })).toEqual({
      ...{ keyId: "key_1", apiId: "api_1", identityId: "id_1", tags: ["other", "eu"] },
    });
    expect(countedFor({ key: keyWith(), identity: null })).toEqual(BARE);
  });

  test("in a sum of each of them", () => {
    expect(subjectsOf(BARE)).toEqual([
      { kind: "key", id: "key_1" },
      { kind: "api", id: "api_1" },
    ]);
    expect(subjectsOf({ ...BARE, identityId: "id_1", tags: ["eu", "us"] })).toEqual([
      { kind: "key", id: "key_1" },
      { kind: "api", id: "api_1" },
      { kind: "identity", id: "id_1" },
      { kind: "tag", id: "eu" },
      { kind: "tag", id: "us" },
    ]);
  });
});

describe("what a verification adds to the sums", () => {
  const subjects = subjectsOf(BARE);

  test.each([
    [0, { VALID: 1, FREE: 1 }],
    [1, { VALID: 1 }],
    [2, { VALID: 1, EXTRA_USES: 1 }],
    [9, { VALID: 1, EXTRA_USES: 8 }],
  ])("depends on its result, at %i uses", (uses, charged) => {
    expect(countsOfCharge(subjects, uses)).toEqual({
      subjects,
      sums: {
        charged,
        repeat: { VALID: 1, FREE: 1 },
        "rate-limited": { RATE_LIMITED: 1 },
        "usage-exceeded": { USAGE_EXCEEDED: 1 },
      },
    });
  });

  test("is its code if the records refuse it", () => {
    const sums = { EXPIRED: 1 };
    expect(countsOfRefusal(subjects, "EXPIRED")).toEqual({
      subjects,
      sums: { charged: sums, repeat: sums, "rate-limited": sums, "usage-exceeded": sums },
    });
  });
});
