import { expect, test } from "vitest";
import type { AuditEntry } from "../records/audit-entry.js";
import { entryWith } from "../testing/records.js";
import { erasedEntry, externalIdOf, identityNamedBy, namesExternalId } from "./entry.js";

const entry = entryWith({
  type: "key.created",
  fields: [
    { field: "apiId", after: "api_1" },
    { field: "name", after: "pier" },
    { field: "externalId", after: "pier-7" },
    { field: "meta", before: { berth: 7 }, after: { berth: 8 } },
    { field: "expires", before: 5, after: 6 },
    { field: "enabled", after: false },
    { field: "roles", after: ["pilot"] },
    { field: "remaining", before: 7 },
    { field: "rotatedTo", before: "key_2" },
  ],
});

const owned = (before?: string, after?: string): AuditEntry => ({
  ...entry,
  fields: [
    {
      field: "externalId",
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    },
  ],
});

test("texts go; ids, types, instants and numbers stay", () => {
  expect(erasedEntry(entry, "pier-7")).toEqual({
    ...entry,
    erased: true,
    fields: [
      { field: "apiId", after: "api_1" },
      { field: "expires", before: 5, after: 6 },
      { field: "enabled", after: false },
      { field: "remaining", before: 7 },
      { field: "rotatedTo", before: "key_2" },
    ],
  });
});

test("an actor with the name is removed, and any other one stays", () => {
  expect(erasedEntry({ ...entry, actor: "pier-7" }, "pier-7").actor).toBeNull();
  expect(erasedEntry(entry, "pier-7").actor).toBe("root_1");
  expect(erasedEntry(entry, null).actor).toBe("root_1");
});

test("an entry names the owner before, the owner after and the actor", () => {
  expect(namesExternalId(owned("pier-7", "pier-8"), "pier-7")).toBe(true);
  expect(namesExternalId(owned("pier-7", "pier-8"), "pier-8")).toBe(true);
  expect(namesExternalId(owned("pier-7"), "pier-8")).toBe(false);
  expect(namesExternalId({ ...entry, actor: "pier-9" }, "pier-9")).toBe(true);
});

test("the identity of an entry belongs to the owner after the change or, without one, to the owner before", () => {
  expect(identityNamedBy(owned("pier-7", "pier-8"), "pier-8")).toBe("id_1");
  expect(identityNamedBy(owned("pier-7", "pier-8"), "pier-7")).toBeNull();
  expect(identityNamedBy(owned("pier-7"), "pier-7")).toBe("id_1");
  expect(externalIdOf(owned("pier-7", "pier-8"), "id_1")).toBe("pier-8");
  expect(externalIdOf(owned("pier-7"), "id_1")).toBe("pier-7");
  expect(externalIdOf(owned("pier-7"), "id_2")).toBeNull();
  expect(externalIdOf({ ...entry, fields: [] }, "id_1")).toBeNull();
});
