import { OPERATIONS } from "@latchkey/core";
import { expect, test } from "vitest";
import { filtersOf } from "./ui/lib/key-filters.js";

/** Inputs that are no filters, but select a part of the list or its form. The page itself sets `apiId` and `identityId`. */
const OTHERS = ["apiId", "identityId", "ownerId", "cursor", "limit", "decrypt", "orderBy", "order"];

test("the page supports every filter of listKeys", () => {
  const { shape } = OPERATIONS.listKeys.input as unknown as { readonly shape: object };
  const filters = Object.keys(shape).filter((name) => !OTHERS.includes(name));
  expect(filters.length).toBeGreaterThan(10);
  const query = Object.fromEntries(filters.map((name) => [name, "1"]));
  expect(filtersOf(query)).toEqual(query);
});

test("an order sets both the field and the direction", () => {
  expect(filtersOf({ order: "expires desc" })).toEqual({ orderBy: "expires", order: "desc" });
});
