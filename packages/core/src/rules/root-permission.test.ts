import { describe, expect, test } from "vitest";
import {
  API_ACTIONS,
  AUDIT_ACTIONS,
  EVENT_ACTIONS,
  IDENTITY_ACTIONS,
  isGrantCovered,
  isRootAllowed,
  isRootPermission,
  RATELIMIT_ACTIONS,
  RBAC_ACTIONS,
  ROOT_KEY_ACTIONS,
  type RootPermission,
  rootPermissionName,
  rootPermissionProblem,
  USAGE_ACTIONS,
} from "./root-permission.js";

const createKey: RootPermission = { resource: "api", id: "api_1", action: "create_key" };

describe("a permission that a root key can hold", () => {
  test("may be *", () => {
    expect(isRootPermission("*")).toBe(true);
  });

  test.each([
    { resource: "api", actions: API_ACTIONS, id: "api_123", hasIds: true },
    { resource: "identity", actions: IDENTITY_ACTIONS, id: "id_123", hasIds: true },
    { resource: "ratelimit", actions: RATELIMIT_ACTIONS, id: "mail", hasIds: true },
    { resource: "rbac", actions: RBAC_ACTIONS, id: "role_1", hasIds: false },
    { resource: "audit", actions: AUDIT_ACTIONS, id: "evt_1", hasIds: false },
    { resource: "events", actions: EVENT_ACTIONS, id: "evt_1", hasIds: false },
    { resource: "root", actions: ROOT_KEY_ACTIONS, id: "root_1", hasIds: false },
    { resource: "usage", actions: USAGE_ACTIONS, id: "key_1", hasIds: false },
  ])("is a known action on all of $resource, or on one if it has ids: $hasIds", (row) => {
    for (const action of row.actions) {
      expect(isRootPermission(`${row.resource}.*.${action}`)).toBe(true);
      expect(isRootPermission(`${row.resource}.${row.id}.${action}`)).toBe(row.hasIds);
    }
  });

  test("may name a namespace that holds dots, up to its 128 characters", () => {
    expect(isRootPermission("ratelimit.mail.v1:send_all-x.limit")).toBe(true);
    expect(isRootPermission("ratelimit.limit.limit.limit")).toBe(true);
    expect(isRootPermission(`ratelimit.${"n".repeat(128)}.limit`)).toBe(true);
    expect(isRootPermission(`ratelimit.${"n".repeat(129)}.limit`)).toBe(false);
  });

  test.each([
    "",
    "**",
    "api",
    "api.*",
    "api.*.fly",
    "api.*.read_identity",
    "identity.*.create_key",
    "API.*.create_key",
    "api.*.create_key.more",
    "api..create_key",
    "api. .create_key",
    "constructor.*.create_key",
    "__proto__.*.create_key",
    " api.*.create_key",
    "api.api_1.x.create_key",
    "audit.undefined.read_audit",
    "api.*.*.create_key",
    "ratelimit.limit",
    "ratelimit..limit",
    "ratelimit.ma il.limit",
    "ratelimit.mail*.limit",
    "ratelimit.mail.create_key",
    "ratelimit.mail\n.limit",
  ])("is not %j", (text) => {
    expect(isRootPermission(text)).toBe(false);
  });

  const form =
    'must be "*" or <api|identity|rbac|ratelimit|audit|events|root|usage>.<id or *>.<action>';

  test.each([
    ["", form],
    ["API.*.create_key", form],
    ["constructor.*.create_key", form],
    ["usage", "must end with an action of usage: read_usage"],
    ["audit.*.read_key", "must end with an action of audit: read_audit, delete_audit"],
    ["events.*.", "must end with an action of events: read_event, notice_event"],
    ["api.create_key", 'must have "*" or an id between api and create_key'],
    ["api.a.b.create_key", 'must have "*" or an id between api and create_key'],
    ["audit.evt_1.read_audit", 'must have "*" between audit and read_audit'],
  ])("%j is refused with a message that says why", (text, problem) => {
    expect(rootPermissionProblem(text)).toBe(problem);
  });
});

describe("a root key", () => {
  test.each([
    ["*", true],
    ["api.*.create_key", true],
    ["api.api_1.create_key", true],
    ["api.api_2.create_key", false],
    ["api.api_1.read_key", false],
    ["api.*.read_key", false],
    ["identity.*.create_identity", false],
    ["api.api_1.*", false],
    ["api.*", false],
  ])("that holds %s may create a key of api_1: %s", (held, isAllowed) => {
    expect(isRootAllowed([held], createKey)).toBe(isAllowed);
  });

  test("of one namespace may take from no other, even if one name begins with the other", () => {
    const needed: RootPermission = { resource: "ratelimit", id: "mail.v1", action: "limit" };
    expect(isRootAllowed(["ratelimit.mail.v1.limit"], needed)).toBe(true);
    expect(isRootAllowed(["ratelimit.*.limit"], needed)).toBe(true);
    expect(isRootAllowed(["ratelimit.mail.limit", "ratelimit.v1.limit"], needed)).toBe(false);
    expect(isRootAllowed(["ratelimit.mail.*.limit"], needed)).toBe(false);
  });

  test("that holds nothing may do nothing", () => {
    expect(isRootAllowed([], createKey)).toBe(false);
  });

  test("needs the form for all if no single resource is meant", () => {
    const any: RootPermission = { resource: "api", id: null, action: "create_key" };
    expect(rootPermissionName(any)).toBe("api.*.create_key");
    expect(isRootAllowed(["api.api_1.create_key"], any)).toBe(false);
    expect(isRootAllowed(["api.*.create_key"], any)).toBe(true);
  });

  test("is shown the narrowest permission that grants what is needed", () => {
    expect(rootPermissionName(createKey)).toBe("api.api_1.create_key");
  });
});

describe("what a root key may give", () => {
  test.each([
    ["*", "*", true],
    ["*", "ratelimit.mail.v1.limit", true],
    ["api.*.read_key", "*", false],
    ["api.*.read_key", "api.*.read_key", true],
    ["api.*.read_key", "api.api_1.read_key", true],
    ["api.api_1.read_key", "api.*.read_key", false],
    ["api.api_1.read_key", "api.api_2.read_key", false],
    ["api.*.read_key", "identity.*.read_identity", false],
    ["ratelimit.*.limit", "ratelimit.mail.v1.limit", true],
    ["ratelimit.mail.limit", "ratelimit.mail.v1.limit", false],
    ["api.*.*", "api.*.read_key", false],
  ])("of %s, %s: %s", (held, given, isCovered) => {
    expect(isGrantCovered([held], given)).toBe(isCovered);
  });
});
