import {
  createLatchkey,
  EMPTY_CHANGE,
  ERROR_REASONS,
  type ErrorDetails,
  type ErrorReason,
  type Latchkey,
  stateRecord,
} from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { foreign, hex } from "../imports.js";
import {
  describeOnMemory,
  issue,
  NOON,
  rejectionOf,
  type TestContext,
  VAULT_KEYS,
} from "../test-context.js";

interface ReasonCase {
  readonly title: string;
  readonly reason: ErrorReason;
  readonly code: string;
  readonly details?: ErrorDetails;
  /** The refused call. */
  readonly call: (context: TestContext) => Promise<unknown>;
}

/** Reasons that come only from opening a store, or from HTTP. Each has its own test there. */
const OF_OTHERS: readonly ErrorReason[] = ["driver-missing", "workspace-disabled"];

const openApi = async (latchkey: Latchkey) =>
  (await latchkey.createApi({ name: "tide tables" })).apiId;

/** A reservation of 3 uses, and of 2 units of a limit. */
async function reserved(context: TestContext): Promise<string> {
  const ratelimits = [{ name: "reads", limit: 5, duration: 60_000 }];
  const { key } = await issue(context, { remaining: 10, ratelimits });
  const verdict = await context.latchkey.reserve({
    key,
    remaining: { cost: 3 },
    ratelimits: [{ name: "reads", cost: 2 }],
  });
  return verdict.code === "VALID" ? verdict.reservationId : verdict.code;
}

const CASES: readonly ReasonCase[] = [
  {
    title: "createKey with more uses than its API allows",
    reason: "above-ceiling",
    code: "PRECONDITION_FAILED",
    details: { field: "remaining", limit: 5 },
    call: async ({ latchkey }) => {
      const { apiId } = await latchkey.createApi({ name: "tides", ceilings: { maxRemaining: 5 } });
      await latchkey.createKey({ apiId, remaining: 6 });
    },
  },
  {
    title: "createKey with expiresWhenUnused where uses are not counted",
    reason: "usage-off",
    code: "PRECONDITION_FAILED",
    details: { field: "expiresWhenUnused" },
    call: async (context) => {
      const latchkey = context.another({ usage: false });
      await issue({ ...context, latchkey }, { expiresWhenUnused: "90d" });
    },
  },
  {
    title: "createKey with roles and permissions that do not exist",
    reason: "missing-grants",
    code: "PRECONDITION_FAILED",
    details: { missing: { roles: ["diver"], permissions: ["tides.read"] } },
    call: async (context) => {
      await context.latchkey.createRole({ name: "pilot" });
      await issue(context, { roles: ["pilot", "diver"], permissions: ["tides.read"] });
    },
  },
  {
    title: "updateKey with a role of an id that does not exist",
    reason: "missing-grants",
    code: "PRECONDITION_FAILED",
    details: { missing: { roles: ["role_none"], permissions: [] } },
    call: async (context) => {
      const { keyId } = await issue(context);
      await context.latchkey.updateKey({ keyId, roles: [{ id: "role_none" }] });
    },
  },
  {
    title: "createKeys with roles that do not exist, of all keys",
    reason: "missing-grants",
    code: "PRECONDITION_FAILED",
    details: { missing: { roles: ["pilot", "diver"], permissions: [] } },
    call: async ({ latchkey }) => {
      const apiId = await openApi(latchkey);
      await latchkey.createKeys([
        { apiId, hash: hex(foreign(1)), roles: ["pilot"] },
        { apiId, hash: hex(foreign(2)), roles: ["diver", "pilot"] },
      ]);
    },
  },
  {
    title: "addRoles beyond what a key may hold",
    reason: "too-many-grants",
    code: "PRECONDITION_FAILED",
    details: { limit: 100 },
    call: async (context) => {
      const { keyId } = await issue(context);
      const roles = Array.from({ length: 100 }, (_, at) => ({ name: `r${at}`, create: true }));
      await context.latchkey.addRoles({ keyId, roles });
      await context.latchkey.addRoles({ keyId, roles: [{ name: "more", create: true }] });
    },
  },
  {
    title: "a limit that neither the key nor its identity has",
    reason: "unknown-limit",
    code: "BAD_REQUEST",
    details: { keyId: expect.any(String) },
    call: async (context) => {
      const { key } = await issue(context);
      await context.latchkey.verifyKey({ key, ratelimits: [{ name: "tiles" }] });
    },
  },
  {
    title: "a recoverable key without a vault",
    reason: "no-vault",
    code: "PRECONDITION_FAILED",
    call: (context) => issue(context, { recoverable: true }),
  },
  {
    title: "a token without keys for tokens",
    reason: "no-token-keys",
    code: "PRECONDITION_FAILED",
    call: ({ latchkey }) => latchkey.exchangeKey({ key: "sk_nobody", audience: "tides" }),
  },
  {
    title: "a secret whose vault key is gone from the ring",
    reason: "vault-key-missing",
    code: "PRECONDITION_FAILED",
    call: async (context) => {
      const before = context.another({ vault: { current: "a", keys: { a: VAULT_KEYS[0] } } });
      const { keyId } = await issue({ ...context, latchkey: before }, { recoverable: true });
      const after = context.another({ vault: { current: "b", keys: { b: VAULT_KEYS[1] } } });
      await after.getKey({ keyId, decrypt: true });
    },
  },
  {
    title: "a secret whose pepper is gone from the ring",
    reason: "pepper-missing",
    code: "PRECONDITION_FAILED",
    call: async (context) => {
      const vault = { current: "a", keys: { a: VAULT_KEYS[0] } };
      const before = context.another({
        vault,
        pepper: { current: "p", keys: { p: VAULT_KEYS[1] } },
      });
      const { keyId } = await issue({ ...context, latchkey: before }, { recoverable: true });
      await context.another({ vault }).getKey({ keyId, decrypt: true });
    },
  },
  {
    title: "updateRemaining below zero",
    reason: "insufficient-uses",
    code: "PRECONDITION_FAILED",
    details: { remaining: 3 },
    call: async (context) => {
      const { keyId } = await issue(context, { remaining: 3 });
      await context.latchkey.updateRemaining({ keyId, op: "decrement", value: 4 });
    },
  },
  {
    title: "enabling a key without uses left",
    reason: "no-uses-left",
    code: "PRECONDITION_FAILED",
    call: async (context) => {
      const { keyId, key } = await issue(context, { remaining: 1 });
      await context.latchkey.verifyKey({ key });
      await context.latchkey.updateKey({ keyId, enabled: true });
    },
  },
  {
    title: "setting uses of a key that takes them from its identity",
    reason: "uses-from-identity",
    code: "PRECONDITION_FAILED",
    call: async (context) => {
      const { keyId } = await issue(context, { externalId: "team", usesFrom: "identity" });
      await context.latchkey.updateRemaining({ keyId, op: "set", value: 1 });
    },
  },
  {
    title: "rotating a key that has expired",
    reason: "key-expired",
    code: "PRECONDITION_FAILED",
    call: async (context) => {
      const { keyId } = await issue(context, { expires: NOON + 1 });
      context.advance(1);
      await context.latchkey.rotateKey({ keyId });
    },
  },
  {
    title: "rotating a key that was rotated",
    reason: "key-rotated",
    code: "CONFLICT",
    call: async (context) => {
      const { keyId } = await issue(context);
      await context.latchkey.rotateKey({ keyId });
      await context.latchkey.rotateKey({ keyId });
    },
  },
  {
    title: "putting off the expiry of a key that was rotated",
    reason: "key-rotated",
    code: "PRECONDITION_FAILED",
    call: async (context) => {
      const { keyId } = await issue(context);
      await context.latchkey.rotateKey({ keyId, graceMs: 1_000 });
      await context.latchkey.updateKey({ keyId, expires: NOON + 2_000 });
    },
  },
  ...(["createRole", "createPermission"] as const).map(
    (operation): ReasonCase => ({
      title: `${operation} with a name that is taken`,
      reason: "taken",
      code: "CONFLICT",
      details: { field: "name" },
      call: async ({ latchkey }) => {
        await latchkey[operation]({ name: "pilot" });
        await latchkey[operation]({ name: "pilot" });
      },
    }),
  ),
  {
    title: "createIdentity with an externalId that is taken",
    reason: "taken",
    code: "CONFLICT",
    details: { field: "externalId" },
    call: async ({ latchkey }) => {
      await latchkey.createIdentity({ externalId: "pier-7" });
      await latchkey.createIdentity({ externalId: "pier-7" });
    },
  },
  ...(["hash", "plaintext"] as const).map(
    (field): ReasonCase => ({
      title: `createKeys with a ${field} that is taken`,
      reason: "taken",
      code: "CONFLICT",
      details: { field: `1.${field}` },
      call: async ({ latchkey }) => {
        const apiId = await openApi(latchkey);
        const secret = field === "hash" ? { hash: hex(foreign(1)) } : { plaintext: foreign(1) };
        await latchkey.createKeys([{ apiId, hash: hex(foreign(1)) }]);
        await latchkey.createKeys([
          { apiId, hash: hex(foreign(2)) },
          { apiId, ...secret },
        ]);
      },
    }),
  ),
  {
    title: "a requestId that was used for another question",
    reason: "request-id-reused",
    code: "CONFLICT",
    call: async (context) => {
      const { key } = await issue(context, { remaining: 5 });
      const input = { key, requestId: "retry-1" };
      await context.latchkey.verifyKey(input);
      await context.latchkey.verifyKey({ ...input, remaining: { cost: 2 } });
    },
  },
  {
    title: "an idempotencyKey that was used for another write",
    reason: "idempotency-key-reused",
    code: "CONFLICT",
    call: async ({ latchkey }) => {
      await latchkey.createApi({ name: "tide tables", idempotencyKey: "retry-1" });
      await latchkey.createApi({ name: "ferry times", idempotencyKey: "retry-1" });
    },
  },
  {
    title: "a reserve of a key of which 1,000 reservations are open",
    reason: "too-many-reservations",
    code: "PRECONDITION_FAILED",
    details: { limit: 1_000 },
    call: async (context) => {
      const { key } = await issue(context);
      for (let open = 0; open <= 1_000; open += 1) await context.latchkey.reserve({ key });
    },
  },
  {
    title: "an order by expires of the keys of a workspace",
    reason: "too-many-keys",
    code: "PRECONDITION_FAILED",
    details: { limit: 2_000 },
    call: ({ latchkey }) => latchkey.listKeys({ orderBy: "expires" }),
  },
  {
    title: "a settle of more than is reserved",
    reason: "over-reservation",
    code: "PRECONDITION_FAILED",
    details: { reserved: { uses: 3, ratelimits: [{ name: "reads", cost: 2 }] } },
    call: async (context) => {
      const reservationId = await reserved(context);
      await context.latchkey.settle({ reservationId, ratelimits: [{ name: "reads", cost: 3 }] });
    },
  },
  {
    title: "a settle of a reservation whose time has passed",
    reason: "reservation-expired",
    code: "PRECONDITION_FAILED",
    call: async (context) => {
      const reservationId = await reserved(context);
      context.advance(300_000);
      await context.latchkey.settle({ reservationId });
    },
  },
  {
    title: "a settle with other figures than before",
    reason: "reservation-ended",
    code: "CONFLICT",
    call: async (context) => {
      const reservationId = await reserved(context);
      await context.latchkey.settle({ reservationId, remaining: { cost: 1 } });
      await context.latchkey.settle({ reservationId, remaining: { cost: 2 } });
    },
  },
  {
    title: "a readEvents behind which events were pruned",
    reason: "pruned",
    code: "PRECONDITION_FAILED",
    call: async (context) => {
      const { latchkey } = context;
      const { cursor: after } = await latchkey.readEvents();
      await openApi(latchkey);
      context.advance(1);
      await latchkey.pruneAuditEvents({ before: context.now() });
      await latchkey.readEvents({ after });
    },
  },
  {
    title: "a readEvents behind an event that the store does not have",
    reason: "unknown-position",
    code: "PRECONDITION_FAILED",
    call: async ({ latchkey }) => {
      await openApi(latchkey);
      const { cursor: after } = await latchkey.readEvents();
      await createLatchkey({ store: memoryStore() }).readEvents({ after });
    },
  },
  {
    title: "a notice without an audit log",
    reason: "no-audit-log",
    code: "PRECONDITION_FAILED",
    call: () => createLatchkey({ store: memoryStore(), auditLog: false }).notice(),
  },
  {
    title: "a readEvents without an audit log",
    reason: "no-audit-log",
    code: "PRECONDITION_FAILED",
    call: () => createLatchkey({ store: memoryStore(), auditLog: false }).readEvents(),
  },
  ...(["incomplete", "moved", "deleting"] as const).map(
    (reason): ReasonCase => ({
      title: `a change in a store whose state is ${reason}`,
      reason,
      code: "STORE_UNAVAILABLE",
      call: async (context) => {
        const { keyId } = await issue(context);
        const { store, latchkey } = context;
        const state = stateRecord({ state: reason, transfer: "t" }, 1, null);
        const change = { ...EMPTY_CHANGE, puts: [{ record: state }], revision: 7 };
        await store.commit(latchkey.workspaceId, change);
        await latchkey.updateKey({ keyId, name: "tides" });
      },
    }),
  ),
];

describeOnMemory("an error", (open) => {
  test("has a case here for every reason", () => {
    const told = [...CASES.map(({ reason }) => reason), ...OF_OTHERS];
    expect(new Set(told)).toEqual(new Set(ERROR_REASONS));
  });

  test.each(CASES)("of $title has the reason $reason", async ({ reason, code, details, call }) => {
    const error = await rejectionOf(call(open()));
    expect({ ...error }).toMatchObject({ code, reason });
    expect((error as { details?: ErrorDetails }).details).toEqual(details ?? {});
  });

  test("with only one cause has no reason and no details", async () => {
    const { latchkey } = open();
    for (const call of [latchkey.getKey({ keyId: "key_none" }), latchkey.createApi({} as never)])
      expect(await rejectionOf(call)).toMatchObject({ reason: undefined, details: {} });
  });
});
