import { describe, expect, test } from "vitest";
import { createKeyCache } from "../lib/lru-cache.js";
import type { ApiRecord } from "../records/api.js";
import { sharedApi } from "./shared-api.js";

const apiWith = (fields: Partial<ApiRecord> = {}): ApiRecord => ({
  id: "api_1",
  workspaceId: "ws_default",
  name: "payments",
  deleteProtection: false,
  ipWhitelist: ["192.0.2.0/24", "::1"],
  createdAt: 1,
  version: 1,
  ...fields,
});

describe("keys of one API", () => {
  test("share the record that was seen first, as long as it says the same", () => {
    const shared = createKeyCache<ApiRecord>(4);
    const first = apiWith();
    expect(sharedApi(shared, first)).toBe(first);
    expect(sharedApi(shared, apiWith())).toBe(first);
    expect(sharedApi(shared, apiWith({ ipWhitelist: ["192.0.2.0/24", "::1"] }))).toBe(first);
  });

  test.each<Partial<ApiRecord>>([
    { ipWhitelist: ["192.0.2.0/24"] },
    { ipWhitelist: ["::1", "192.0.2.0/24"] },
    { ipWhitelist: ["192.0.2.0/24", "::2"] },
    { ipWhitelist: ["192.0.2.0/24", "::1", "::2"] },
    { version: 2 },
    { name: "billing" },
    { deleteProtection: true },
    { createdAt: 2 },
    { workspaceId: "ws_other" },
  ])("share a new one with %j, and from then on that", (fields) => {
    const shared = createKeyCache<ApiRecord>(4);
    const [before, after] = [apiWith(), apiWith(fields)];
    sharedApi(shared, before);
    expect(sharedApi(shared, after)).toBe(after);
    expect(sharedApi(shared, apiWith(fields))).toBe(after);
  });

  test("without a list keep their own record: there is nothing worth sharing", () => {
    const shared = createKeyCache<ApiRecord>(4);
    const [one, other] = [apiWith({ ipWhitelist: [] }), apiWith({ ipWhitelist: [] })];
    expect(sharedApi(shared, one)).toBe(one);
    expect(sharedApi(shared, other)).toBe(other);
  });

  test("share nothing with those of another", () => {
    const shared = createKeyCache<ApiRecord>(4);
    const [one, other] = [apiWith(), apiWith({ id: "api_2" })];
    expect(sharedApi(shared, one)).toBe(one);
    expect(sharedApi(shared, other)).toBe(other);
    expect(sharedApi(shared, apiWith())).toBe(one);
  });
});
