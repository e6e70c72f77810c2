import { describe, expect, test } from "vitest";
import type { AuditEntry } from "../records/audit-entry.js";
import { contextWith } from "../testing/context.js";
import { entryWith } from "../testing/records.js";
import {
  buildAuditEntry,
  erasedEntry,
  externalIdOf,
  fieldChanges,
  identityNamedBy,
  namesExternalId,
  toAuditEvent,
} from "./entry.js";

const RENAMED = {
  type: "key.updated",
  at: 1_000,
  resourceId: "key_1",
  keyId: "key_1",
  identityId: "id_1",
  before: { name: "tides", enabled: true },
  after: { name: "gates", enabled: true },
} as const;

describe("the audit entry of a change", () => {
  test("has an id, a workspace, an author and the fields that differ", () => {
    const context = contextWith({ workspaceId: "ws_tides", actor: "root_1" });
    expect(buildAuditEntry(context, RENAMED)).toEqual({
      id: "evt_1",
      workspaceId: "ws_tides",
      type: "key.updated",
      at: 1_000,
      actor: "root_1",
      resourceId: "key_1",
      keyId: "key_1",
      identityId: "id_1",
      unreadable: false,
      erased: false,
      leakMark: null,
      fields: [{ field: "name", before: "tides", after: "gates" }],
    });
  });

  test("concerns no key and no identity, and has nothing before and after, unless it says so", () => {
    const change = { type: "workspace.enabled", at: 1, resourceId: "ws_default" } as const;
    expect(buildAuditEntry(contextWith(), change)).toMatchObject({
      actor: null,
      keyId: null,
      identityId: null,
      fields: [],
    });
  });

  test("is dated now, and concerns the changed key or identity, unless it says otherwise", () => {
    const context = contextWith();
    const entryOf = (type: "key.updated" | "identity.updated" | "root_key.revoked") =>
      buildAuditEntry(context, { type, resourceId: "it" });
    expect(entryOf("key.updated")).toMatchObject({ keyId: "it", identityId: null });
    expect(entryOf("identity.updated")).toMatchObject({ keyId: null, identityId: "it" });
    expect(entryOf("root_key.revoked")).toMatchObject({ keyId: null, identityId: null });
    expect(entryOf("key.updated").at).toBe(context.now());
  });

  test("has an id of its own each time", () => {
    const context = contextWith();
    const ids = [RENAMED, RENAMED].map((change) => buildAuditEntry(context, change).id);
    expect(new Set(ids).size).toBe(2);
  });
});

const fields = [{ field: "name", before: "tides", after: "gates" }];
const marked = entryWith({ unreadable: true, erased: true, fields });

test("an event shows its whole entry", () => {
  expect(toAuditEvent(marked)).toStrictEqual({
    id: "evt_1",
    type: "key.updated",
    workspaceId: "ws_default",
    at: 1_000,
    actor: "root_1",
    resourceId: "key_1",
    keyId: "key_1",
    identityId: "id_1",
    unreadable: true,
    erased: true,
    changes: [{ field: "name", before: "tides", after: "gates" }],
  });
});

test("fields without a value are absent", () => {
  const none = {
    actor: null,
    keyId: null,
    identityId: null,
    unreadable: false,
    erased: false,
    fields: [],
  };
  const bare = { ...marked, ...none };
  expect(toAuditEvent(bare)).toStrictEqual({
    id: "evt_1",
    type: "key.updated",
    workspaceId: "ws_default",
    at: 1_000,
    resourceId: "key_1",
    changes: [],
  });
});

describe("the differences between two states", () => {
  test("are named field by field, before and after", () => {
    expect(fieldChanges({ name: "tides", remaining: 5 }, { name: "gates", remaining: 4 })).toEqual([
      { field: "name", before: "tides", after: "gates" },
      { field: "remaining", before: 5, after: 4 },
    ]);
  });

  test("have no before without an earlier value, and no after without a later one", () => {
    expect(fieldChanges({ gone: 1, nulled: 2, dropped: 3 }, { fresh: 4, nulled: null })).toEqual([
      { field: "fresh", after: 4 },
      { field: "gone", before: 1 },
      { field: "nulled", before: 2 },
      { field: "dropped", before: 3 },
    ]);
  });

  test("come in the order of the later state, then fields that lost their value", () => {
    const changes = fieldChanges({ c: 1, a: 1, b: 1 }, { a: 2, b: 2 });
    expect(changes.map(({ field }) => field)).toEqual(["a", "b", "c"]);
  });

  test.each([
    [{}, {}],
    [{ name: null }, {}],
    [{}, { name: undefined }],
    [{ name: null }, { name: undefined }],
    [{ name: "" }, { name: "" }],
    [{ meta: { a: 1, b: [1, { c: 2 }] } }, { meta: { b: [1, { c: 2 }], a: 1 } }],
    [{ roles: [] }, { roles: [] }],
  ])("between %j and %j are none", (before, after) => {
    expect(fieldChanges(before, after)).toEqual([]);
  });

  test.each([
    [0, false],
    [0, ""],
    [1, "1"],
    ["", false],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 1]],
    [[1], { 0: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: { b: 1 } }, { a: { b: 2 } }],
    [{ a: null }, {}],
    [{ toString: 1 }, {}],
  ])("between the values %j and %j are a change", (was, is) => {
    expect(fieldChanges({ field: was }, { field: is })).toEqual([
      { field: "field", before: was, after: is },
    ]);
  });

  test("include a field with the name of an inherited member", () => {
    expect(fieldChanges({ constructor: "a" }, { constructor: "b" })).toEqual([
      { field: "constructor", before: "a", after: "b" },
    ]);
  });
});

const ownedEntry = entryWith({
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
  ...ownedEntry,
  fields: [
    {
      field: "externalId",
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    },
  ],
});

describe("an erased entry", () => {
  test("has no texts: ids, types, instants and numbers stay", () => {
    expect(erasedEntry(ownedEntry, "pier-7")).toEqual({
      ...ownedEntry,
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

  test("has no actor of that name, and keeps any other", () => {
    expect(erasedEntry({ ...ownedEntry, actor: "pier-7" }, "pier-7").actor).toBeNull();
    expect(erasedEntry(ownedEntry, "pier-7").actor).toBe("root_1");
    expect(erasedEntry(ownedEntry, null).actor).toBe("root_1");
  });
});

test("an entry names the owner before, the owner after and the actor", () => {
  expect(namesExternalId(owned("pier-7", "pier-8"), "pier-7")).toBe(true);
  expect(namesExternalId(owned("pier-7", "pier-8"), "pier-8")).toBe(true);
  expect(namesExternalId(owned("pier-7"), "pier-8")).toBe(false);
  expect(namesExternalId({ ...ownedEntry, actor: "pier-9" }, "pier-9")).toBe(true);
});

test("an entry names whose limit without a key was reset, but not the limit of a key or an identity", () => {
  const fields = [{ field: "name", before: "pier-7" }];
  const reset = {
    ...ownedEntry,
    type: "ratelimit.reset",
    keyId: null,
    identityId: null,
    fields,
  } as const;
  expect(namesExternalId(reset, "pier-7")).toBe(true);
  expect(namesExternalId(reset, "pier-8")).toBe(false);
  expect(namesExternalId({ ...reset, keyId: "key_1" }, "pier-7")).toBe(false);
  expect(namesExternalId({ ...reset, identityId: "id_1" }, "pier-7")).toBe(false);
  expect(namesExternalId({ ...reset, type: "api.updated" }, "pier-7")).toBe(false);
  expect(identityNamedBy(reset, "pier-7")).toBeNull();
});

test("the identity of an entry belongs to the owner after the change or, without one, to the owner before", () => {
  expect(identityNamedBy(owned("pier-7", "pier-8"), "pier-8")).toBe("id_1");
  expect(identityNamedBy(owned("pier-7", "pier-8"), "pier-7")).toBeNull();
  expect(identityNamedBy(owned("pier-7"), "pier-7")).toBe("id_1");
  expect(externalIdOf(owned("pier-7", "pier-8"), "id_1")).toBe("pier-8");
  expect(externalIdOf(owned("pier-7"), "id_1")).toBe("pier-7");
  expect(externalIdOf(owned("pier-7"), "id_2")).toBeNull();
  expect(externalIdOf({ ...ownedEntry, fields: [] }, "id_1")).toBeNull();
});
