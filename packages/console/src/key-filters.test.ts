import { OPERATIONS } from "@latchkey/core";
import { expect, test } from "vitest";
import { filtersOf } from "./ui/lib/key-filters.js";

/** What is not a filter: which part of the list, and how it is shown. `apiId` and `identityId` are said by the page. */
const OTHERS = ["apiId", "identityId", "ownerId", "cursor", "limit", "decrypt", "orderBy", "order"];

test("keys are found by every filter of listKeys", () => {
  const { shape } = OPERATIONS.listKeys.input as unknown as { readonly shape: object };
  const filters = Object.keys(shape).filter((name) => !OTHERS.includes(name));
  expect(filters.length).toBeGreaterThan(10);
  const query = Object.fromEntries(filters.map((name) => [name, "1"]));
  expect(filtersOf(query)).toEqual(query);
});

test("an order is both of its parts", () => {
  expect(filtersOf({ order: "expires desc" })).toEqual({ orderBy: "expires", order: "desc" });
});
