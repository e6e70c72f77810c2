import { describe, expect, test } from "vitest";
import {
  doesGrant,
  HeldPermissions,
  isSatisfied,
  missingPermissions,
  type PermissionQuery,
} from "./permission.js";

describe("doesGrant", () => {
  test.each([
    { held: "docs.read", wanted: "docs.read", answer: true, why: "a permission grants itself" },
    { held: "docs.read", wanted: "docs.write", answer: false, why: "it grants no other" },
    {
      held: "docs.read",
      wanted: "docs.read.all",
      answer: false,
      why: "without a wildcard it grants nothing below",
    },
    { held: "docs.read.all", wanted: "docs.read", answer: false, why: "it grants nothing above" },
    { held: "docs.read", wanted: "Docs.read", answer: false, why: "letter case counts" },
    { held: "*", wanted: "docs.read", answer: true, why: "* grants all" },
    { held: "*", wanted: "*", answer: true, why: "* grants itself" },
    {
      held: "docs.*",
      wanted: "docs.read",
      answer: true,
      why: "a trailing wildcard grants what is right below",
    },
    { held: "docs.*", wanted: "docs.read.all", answer: true, why: "and what is further below" },
    { held: "docs.*", wanted: "docs", answer: false, why: "but not the name itself" },
    { held: "docs.*", wanted: "docs.", answer: false, why: "nor an empty name below it" },
    {
      held: "docs.*",
      wanted: "docsearch",
      answer: false,
      why: "nor what only begins with the same letters",
    },
    {
      held: "docs.*",
      wanted: "other.docs.read",
      answer: false,
      why: "nor the name in another place",
    },
    { held: "docs.*", wanted: "docs.*", answer: true, why: "a wildcard grants itself" },
    { held: "docs.*", wanted: "docs.read.*", answer: true, why: "and a narrower wildcard" },
    { held: "docs.read.*", wanted: "docs.*", answer: false, why: "but no wider one" },
    { held: "docs.read", wanted: "docs.*", answer: false, why: "a name does not grant a wildcard" },
    { held: "docs.*", wanted: "*", answer: false, why: "nothing but * grants *" },
    {
      held: "*.read",
      wanted: "docs.read",
      answer: false,
      why: "a * in front is an ordinary character",
    },
    { held: "docs.*.read", wanted: "docs.a.read", answer: false, why: "so is one in the middle" },
    {
      held: "docs*",
      wanted: "docs.read",
      answer: false,
      why: "so is one at the end without a dot",
    },
    { held: "docs.*.read", wanted: "docs.*.read", answer: true, why: "and equals itself" },
    { held: "", wanted: "docs.read", answer: false, why: "an empty name grants nothing else" },
  ])("$held and $wanted: $why", ({ held, wanted, answer }) => {
    expect(doesGrant(held, wanted)).toBe(answer);
    expect(new HeldPermissions([held]).grant(wanted)).toBe(answer);
  });
});

describe("HeldPermissions", () => {
  test("one of several held permissions is enough", () => {
    expect(new HeldPermissions(["a", "docs.*", "b"]).grant("docs.read")).toBe(true);
  });

  test("a key that holds nothing has no permission", () => {
    expect(new HeldPermissions([]).grant("docs.read")).toBe(false);
  });
});

describe("isSatisfied", () => {
  const held = new HeldPermissions(["docs.read", "users.*"]);

  test.each<{ query: PermissionQuery; answer: boolean }>([
    { query: "docs.read", answer: true },
    { query: "docs.write", answer: false },
    { query: { and: ["docs.read", "users.list"] }, answer: true },
    { query: { and: ["docs.read", "docs.write"] }, answer: false },
    { query: { or: ["docs.write", "users.list"] }, answer: true },
    { query: { or: ["docs.write", "docs.delete"] }, answer: false },
    { query: { and: ["docs.read", { or: ["docs.write", "users.list"] }] }, answer: true },
    { query: { or: ["docs.write", { and: ["docs.read", "docs.write"] }] }, answer: false },
    { query: { and: [{ and: [{ and: ["docs.read"] }] }] }, answer: true },
  ])("docs.read and users.* answer $answer to $query", ({ query, answer }) => {
    expect(isSatisfied(query, held)).toBe(answer);
  });

  test("an empty list is never satisfied", () => {
    expect(isSatisfied({ and: [] }, new HeldPermissions(["*"]))).toBe(false);
    expect(isSatisfied({ or: [] }, new HeldPermissions(["*"]))).toBe(false);
  });

  test("an empty list inside a query is not satisfied either", () => {
    expect(isSatisfied({ and: ["docs.read", { and: [] }] }, held)).toBe(false);
    expect(isSatisfied({ or: [{ or: [] }, "docs.read"] }, held)).toBe(true);
  });
});

const missing = (query: PermissionQuery, names: readonly string[]) =>
  missingPermissions(query, new HeldPermissions(names));

test("nothing is missing from a satisfied query", () => {
  expect(missing("docs.read", ["docs.*"])).toBeNull();
  expect(missing({ or: ["docs.read", "docs.write"] }, ["docs.write"])).toBeNull();
});

test("a name that is not held is missing", () => {
  expect(missing("docs.read", ["docs"])).toBe("docs.read");
});

test("of an `and`, only the members that are not held are missing", () => {
  expect(missing({ and: ["a", "b", "c"] }, ["b"])).toEqual({ and: ["a", "c"] });
  expect(missing({ and: ["a", "b"] }, ["b"])).toBe("a");
});

test("of an `or`, every alternative is missing, each without its held parts", () => {
  expect(missing({ or: [{ and: ["a", "b"] }, "c"] }, ["a"])).toEqual({
    or: ["b", "c"],
  });
});

test("of an `or` inside an `and`, only failing alternatives are missing", () => {
  expect(missing({ and: [{ or: ["a", "b"] }, { or: ["c", "d"] }] }, ["a"])).toEqual({
    or: ["c", "d"],
  });
});
