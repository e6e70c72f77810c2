import { type KeyStore, LatchkeyError, OPERATIONS } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { describeOnMemory, NOON } from "../test-context.js";

const explode = (): never => {
  throw new Error("the value was asked");
};

const revoked = (() => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
})();

/** Values that no field of any input accepts, made anew for each call. */
const WRONG: readonly (readonly [string, () => unknown])[] = [
  ["NaN", () => Number.NaN],
  ["Infinity", () => Number.POSITIVE_INFINITY],
  ["-1", () => -1],
  ["2^53", () => 2 ** 53],
  ["a symbol", () => Symbol("name")],
  ["a bigint", () => 1n],
  ["a function", () => () => "name"],
  ["a list with a hole", () => new Array(1)],
  ["a list with a hostile item", () => [{ toString: explode, valueOf: explode, toJSON: explode }]],
  ["an object with hostile methods", () => ({ toString: explode, valueOf: explode })],
  [
    "an object whose getters throw",
    () =>
      Object.defineProperties(
        {},
        Object.fromEntries(
          Object.keys(NESTED).map((name) => [name, { get: explode, enumerable: true }]),
        ),
      ),
  ],
  ["a proxy that throws", () => new Proxy({}, { get: explode, has: explode, ownKeys: explode })],
  ["a proxy that throws as a list", () => new Proxy([1], { get: explode, has: explode })],
  ["a revoked proxy", () => revoked],
];

/** Values that many fields refuse, and some accept. */
const DOUBTFUL: readonly (readonly [string, () => unknown])[] = [
  ["undefined", () => undefined],
  ["null", () => null],
  ["an empty text", () => ""],
  ["a long text", () => "x".repeat(100_000)],
  ["a text with half a character", () => "\ud800"],
  ["a text with a NUL", () => "a\0"],
  ["0", () => 0],
  ["-0", () => -0],
  ["9e15", () => 9e15],
  ["true", () => true],
  ["an empty list", () => []],
  ["a long list", () => Array.from({ length: 2_000 }, () => "tides.read")],
  ["an empty object", () => ({})],
  ["an object whose length is no number", () => ({ length: Object.create(null) })],
  ["a map", () => new Map([["limit", 1]])],
  ["a date", () => new Date(NOON)],
  ["an object that inherits its fields", () => Object.create({ ...NESTED })],
  ["an object that holds itself", () => itself()],
];

function itself(): object {
  const whole: Record<string, unknown> = {};
  whole.meta = whole;
  return whole;
}

/** Fields of objects within inputs. */
const NESTED = {
  name: "reads",
  limit: 1,
  duration: 1,
  interval: "daily",
  amount: 1,
  cost: 1,
  permissions: "tides.read",
  value: "ab".repeat(32),
  variant: "sha256_hex",
};

const LIMIT = { name: "reads", limit: 1, duration: 1 };
const REFILL = { interval: "daily", amount: 1 };
const IMPORTED = { apiId: "api_1", plaintext: "sk_live_1234567890" };

/** An input of each operation that takes an object or a list, with all required fields and every possible nested object. */
const INPUTS: Readonly<Record<string, object>> = {
  createApi: { name: "tide tables", ipWhitelist: ["192.0.2.0/24"] },
  ensureApi: { name: "tide tables" },
  getApi: { apiId: "api_1" },
  listApis: {},
  updateApi: { apiId: "api_1", ipWhitelist: ["192.0.2.0/24"] },
  deleteApi: { apiId: "api_1" },
  createKey: {
    apiId: "api_1",
    remaining: 1,
    refill: REFILL,
    ratelimit: { limit: 1, duration: 1 },
    ratelimits: [LIMIT],
    roles: ["pilot"],
    permissions: ["tides.read"],
  },
  createKeys: [{ ...IMPORTED, remaining: 1, refill: REFILL, ratelimits: [LIMIT] }],
  verifyKey: {
    key: "sk_live_1234567890",
    authorization: { permissions: "tides.read" },
    remaining: { cost: 1 },
    ratelimits: [{ name: "reads", cost: 1 }],
    tags: ["north"],
  },
  explainKey: { keyId: "key_1", authorization: { permissions: "tides.read" } },
  exchangeKey: { key: "sk_live_1234567890", audience: "tides", ttl: "5m" },
  reserve: {
    key: "sk_live_1234567890",
    authorization: { permissions: "tides.read" },
    remaining: { cost: 1 },
    ratelimits: [{ name: "reads", cost: 1 }],
    ttl: "5m",
  },
  settle: {
    reservationId: "rsv_1",
    remaining: { cost: 1 },
    ratelimits: [{ name: "reads", cost: 1 }],
  },
  release: { reservationId: "rsv_1" },
  renew: { reservationId: "rsv_1", ttl: "5m" },
  listReservations: { keyId: "key_1" },
  whoami: { key: "sk_live_1234567890" },
  findApiOfKey: { keyId: "key_1" },
  getKey: { keyId: "key_1" },
  listKeys: { apiId: "api_1" },
  updateKeys: { keyIds: ["key_1"], ratelimits: [LIMIT], roles: [{ name: "pilot" }] },
  updateKey: { keyId: "key_1", refill: REFILL, ratelimits: [LIMIT], roles: [{ name: "pilot" }] },
  updateRemaining: { keyId: "key_1", op: "set", value: 1 },
  rotateKey: { keyId: "key_1" },
  addRoles: { keyId: "key_1", roles: [{ name: "pilot" }] },
  setRoles: { keyId: "key_1", roles: ["pilot"] },
  removeRoles: { keyId: "key_1", roles: ["pilot"] },
  addPermissions: { keyId: "key_1", permissions: [{ name: "tides.read" }] },
  setPermissions: { keyId: "key_1", permissions: ["tides.read"] },
  removePermissions: { keyId: "key_1", permissions: ["tides.read"] },
  deleteKey: { keyId: "key_1" },
  deleteKeys: { apiId: "api_1" },
  disableKeys: { apiId: "api_1", externalId: "pier-7" },
  enableKeys: { apiId: "api_1" },
  reencryptKeys: { apiId: "api_1" },
  reportLeaks: { leaks: [{ key: "x", url: "u", source: "s" }], policy: "report" },
  createIdentity: { externalId: "pier-7", remaining: 1, refill: REFILL, ratelimits: [LIMIT] },
  getIdentity: { externalId: "pier-7" },
  listIdentities: {},
  updateIdentity: { externalId: "pier-7", ratelimits: [LIMIT] },
  deleteIdentity: { identityId: "id_1" },
  eraseIdentity: { identityId: "id_1" },
  limit: { identifier: "a", limit: 1, duration: 1 },
  resetLimit: { namespace: "mail", identifier: "a", duration: 1 },
  createPermission: { name: "tides.read" },
  ensurePermissions: ["tides.read"],
  getPermission: { permissionId: "perm_1" },
  deletePermission: { permissionId: "perm_1" },
  createRole: { name: "pilot", permissions: ["tides.read"] },
  ensureRole: { name: "pilot", permissions: ["tides.read"] },
  getRole: { roleId: "role_1" },
  setRolePermissions: { roleId: "role_1", permissions: ["tides.read"] },
  deleteRole: { roleId: "role_1" },
  createRootKey: { permissions: ["*"] },
  listRootKeys: {},
  updateRootKey: { rootKeyId: "root_1", name: "ops" },
  rotateRootKey: { rootKeyId: "root_1" },
  revokeRootKey: { rootKeyId: "root_1" },
  createPortalSession: { externalId: "pier-7", allow: { apiIds: ["api_1"] } },
  revokePortalSession: { sessionId: "ps_1" },
  createWorkspace: { name: "harbour" },
  listWorkspaces: {},
  updateWorkspace: { workspaceId: "ws_1", name: "harbour" },
  deleteWorkspace: { workspaceId: "ws_1", confirm: "ws_1" },
  getVerifications: { apiId: "api_1", start: NOON, end: NOON + 1 },
  exportUsage: { start: NOON, end: NOON + 1, granularity: "day", by: "key" },
  pruneVerifications: { before: NOON },
  listAuditEvents: {},
  pruneAuditEvents: { before: NOON },
  readEvents: {},
  notice: {},
};

/** Fields that are accepted and ignored, with any contents. */
const PASSED_OVER = new Set(["limit resources"]);

/** Fields in rules about several fields: if one is missing or different, the rule names another field. */
const NEEDED_BY_OTHERS = new Set([
  "createKey remaining",
  "createKeys 0.plaintext",
  "createKeys 0.remaining",
  "createIdentity remaining",
  "getIdentity externalId",
  "updateIdentity externalId",
  "resetLimit namespace",
  "listReservations identityId",
  "getVerifications apiId",
  "getVerifications start",
  "exportUsage start",
]);

/** The paths of everything that can be wrong in an input: every field of its schema, and every value within the given input. */
function pathsOf(name: string): string[] {
  const { input } = OPERATIONS[name as keyof typeof OPERATIONS] as { input: unknown };
  const shape = Object.keys((input as { shape?: object }).shape ?? {});
  const paths = new Set(shape);
  const add = (value: unknown, path: string) => {
    if (path !== "") paths.add(path);
    if (typeof value === "object" && value !== null)
      for (const [key, item] of Object.entries(value))
        add(item, path === "" ? key : `${path}.${key}`);
  };
  add(INPUTS[name], "");
  return [...paths];
}

/** A copy of an input with another value at a path. */
function withValue(input: unknown, path: readonly string[], value: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  const copy = (Array.isArray(input) ? [...input] : { ...(input as object) }) as Record<
    string,
    unknown
  >;
  copy[first] = withValue(copy[first], rest, value);
  return copy;
}

/** Refusals of a well-formed input on a store without the records that it names. */
const REFUSALS = /^(NOT_FOUND|PRECONDITION_FAILED|CONFLICT): /;

type Calls = Readonly<Record<string, (input: unknown) => Promise<unknown>>>;

/** A memory store that counts writes. */
function countingStore(): { readonly store: KeyStore; writes(): number } {
  let count = 0;
  const inner = memoryStore();
  const store = new Proxy(inner, {
    get: (target, name) => {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (name === "commit" || name === "charge") count += 1;
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
  return { store, writes: () => count };
}

describe("the inputs above", () => {
  test("cover every operation with an input", () => {
    const taking = Object.entries(OPERATIONS).flatMap(([name, { input }]) =>
      input === null || name === "setWorkspaceEnabled" ? [] : [name],
    );
    expect(Object.keys(INPUTS).sort()).toEqual(taking.sort());
  });
});

describeOnMemory("a bad input", (open) => {
  test.each(Object.keys(INPUTS))(
    "of %s is refused by the name of its field, and nothing is written",
    async (name) => {
      const { store, writes } = countingStore();
      const { latchkey } = open({ store });
      const call = (latchkey as unknown as Calls)[name] as Calls[string];
      const wrongs: string[] = [];
      for (const path of ["", ...pathsOf(name)]) {
        if (PASSED_OVER.has(`${name} ${path}`)) continue;
        for (const [what, make] of WRONG) {
          const input = withValue(INPUTS[name], path === "" ? [] : path.split("."), make());
          const fault = await faultOf(call(input), path);
          if (fault !== null) wrongs.push(`${path} as ${what}: ${fault}`);
        }
      }
      expect(wrongs).toEqual([]);
      expect(writes()).toBe(0);
    },
  );

  test.each(Object.keys(INPUTS))("of %s is never worse than a refusal", async (name) => {
    const { latchkey } = open();
    const call = (latchkey as unknown as Calls)[name] as Calls[string];
    const wrongs: string[] = [];
    for (const path of ["", ...pathsOf(name)])
      for (const [what, make] of DOUBTFUL) {
        const input = withValue(INPUTS[name], path === "" ? [] : path.split("."), make());
        const fault = await faultOf(call(input), path);
        const isElsewhere = fault?.startsWith("named ") && NEEDED_BY_OTHERS.has(`${name} ${path}`);
        const isFine = fault === null || fault === "accepted" || REFUSALS.test(fault);
        if (!isFine && !isElsewhere) wrongs.push(`${path} as ${what}: ${fault}`);
      }
    expect(wrongs).toEqual([]);
  });

  test("with a negative zero is read as zero", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId, remaining: 1 });
    const answer = await latchkey.updateRemaining({ keyId, op: "set", value: -0 });
    expect([answer.remaining, (await latchkey.getKey({ keyId })).remaining]).toEqual([0, 0]);
  });

  test("of setWorkspaceEnabled and authenticateRootKey is refused, too", async () => {
    const { latchkey } = open();
    for (const [, make] of WRONG) {
      expect(await faultOf(latchkey.setWorkspaceEnabled(make() as boolean), "enabled")).toBeNull();
      const outcome = await latchkey
        .authenticateRootKey(make() as string)
        .catch((error: LatchkeyError) => error.code);
      expect(["BAD_REQUEST", "UNAUTHORIZED"]).toContain(
        typeof outcome === "string" ? outcome : "UNAUTHORIZED",
      );
    }
  });
});

/** The fault of a refusal; null if there is none. */
async function faultOf(answer: Promise<unknown>, path: string): Promise<string | null> {
  try {
    await answer;
    return "accepted";
  } catch (error) {
    if (!(error instanceof LatchkeyError)) return `threw ${String(error)}`;
    if (error.code !== "BAD_REQUEST") return `${error.code}: ${error.message}`;
    const [field = ""] = path.split(".");
    const isNamed = error.issues.some(
      (issue) =>
        path === "" ||
        issue.path === path ||
        issue.path.startsWith(`${path}.`) ||
        path.startsWith(`${issue.path}.`) ||
        (issue.path === field && path !== field),
    );
    return isNamed ? null : `named ${error.issues.map((issue) => issue.path).join()}`;
  }
}
