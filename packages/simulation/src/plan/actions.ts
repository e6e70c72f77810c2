import type { PermissionQuery } from "@latchkey/core";
import type { Call } from "../history.js";
import { damage } from "../world/damage.js";
import {
  type Action,
  byWorld,
  inWorkspace,
  nothing,
  onKey,
  sometimesRepeatable,
} from "./action.js";
import { GRANT_ACTIONS } from "./grant-actions.js";
import { GUARD_ACTIONS } from "./guard-actions.js";
import { HOLD_ACTIONS } from "./hold-actions.js";
import { algorithmOf, type Figures, figuresOf, sometimesAgain, sometimesUnits } from "./limits.js";
import { MANY_KEYS_ACTIONS } from "./many-keys-actions.js";
import { READER_ACTIONS } from "./reader-actions.js";
import { ROOT_KEY_ACTIONS } from "./root-key-actions.js";
import { SESSION_ACTIONS } from "./session-actions.js";
import { WEBHOOK_ACTIONS } from "./webhook-actions.js";

/** Arguments of a verification. */
export interface VerifyArgs {
  readonly cost: number;
  readonly requestId?: string;
  readonly permissions?: PermissionQuery;
  readonly ipAddress?: string;
  /** Whether it requires a key of another API. */
  readonly isOther?: boolean;
  /** Whether the key is presented in another workspace. */
  readonly isElsewhere?: boolean;
  /** A limit that the request makes up. */
  readonly limit?: Figures;
  /** As {@link sometimesAgain} draws it. */
  readonly againBy?: number;
  /** Units of the limit named `default`; absent: 1. */
  readonly units?: number;
}

const QUERIES: readonly PermissionQuery[] = [
  "read",
  "read",
  "write",
  "write",
  "docs.a",
  "docs",
  { and: ["read", "write"] },
  { or: ["write", "docs.a"] },
];

/** First and last addresses of ranges, and their neighbours. */
const ADDRESSES = [
  "192.0.2.0",
  "192.0.2.1",
  "198.51.100.1",
  "192.0.2.127",
  "192.0.2.128",
  "192.0.1.255",
];

const ALLOW_LISTS = [[], [], ["203.0.113.0/24"], ["192.0.2.0/25"], ["192.0.2.1", "198.51.100.1"]];

const KEY_ACTIONS = {
  verify: onKey(
    60,
    (random): VerifyArgs => ({
      cost: random.pick([0, 1, 1, 1, 2]),
      ...sometimesAgain(random),
      ...(random.chance(25) && { requestId: `r${random.below(2)}` }),
      ...(random.chance(35) && { permissions: random.pick(QUERIES) }),
      ...(random.chance(25) && { ipAddress: random.pick(ADDRESSES) }),
      ...(random.chance(3) && { isOther: true }),
      ...(random.chance(3) && { isElsewhere: true }),
      ...(random.chance(10) && { limit: figuresOf(random) }),
      ...sometimesUnits(random),
    }),
    async (latchkey, key, args, world, call) => {
      const at = args.isElsewhere ? latchkey.workspace(world.elsewhere(key.workspace)) : latchkey;
      const verdict = await at.verifyKey({
        key: key.secret,
        remaining: { cost: args.cost },
        ...(args.requestId !== undefined && { requestId: args.requestId }),
        ...(args.permissions !== undefined && {
          authorization: { permissions: args.permissions },
        }),
        ...(args.isOther === true && { apiId: "api_of_another" }),
        ratelimits: [
          ...(args.limit === undefined ? [] : [{ name: "tiles", ...args.limit }]),
          ...(args.units === undefined ? [] : [{ name: "default", cost: args.units }]),
        ],
        // An API with an allow-list refuses verifications without an address.
        ipAddress: args.ipAddress ?? "192.0.2.1",
      });
      return world.learnReservation(key, call, verdict);
    },
  ),
  explain: onKey(2, nothing, (latchkey, { keyId }) =>
    latchkey.explainKey({ keyId, ipAddress: "192.0.2.1" }),
  ),
  setExpires: onKey(
    8,
    (random) => ({ inMs: random.pick([null, 1, 2, 2, 3, 3, 500, 2_000, 9e15]) }),
    (latchkey, { keyId }, { inMs }, _, { startNow }) =>
      latchkey.updateKey({ keyId, expires: inMs === null ? null : startNow + inMs }),
  ),
  moveKey: onKey(
    3,
    (random) => ({ externalId: random.pick([null, "user_0", "user_1"]) }),
    (latchkey, { keyId }, { externalId }) => latchkey.updateKey({ keyId, externalId }),
  ),
  shareUses: onKey(
    2,
    (random) => ({ usesFrom: random.pick(["key", "identity"]) }),
    (latchkey, { keyId }, { usesFrom }) => latchkey.updateKey({ keyId, usesFrom }),
  ),
  switchKey: onKey(
    10,
    (random) => ({ enabled: random.chance(40), ...sometimesRepeatable(random) }),
    (latchkey, { keyId }, args) => latchkey.updateKey({ keyId, ...args }),
  ),
  renameKey: onKey(
    5,
    (random) => ({ name: `name ${random.below(3)}` }),
    (latchkey, { keyId }, { name }) => latchkey.updateKey({ keyId, name }),
  ),
  deleteKey: onKey(4, nothing, (latchkey, { keyId }) => latchkey.deleteKey({ keyId })),
  rotateKey: onKey(
    4,
    (random) => ({ graceMs: random.pick([0, 500, 60_000]), ...sometimesRepeatable(random) }),
    async (latchkey, old, args, world, call) => {
      const made = await latchkey.rotateKey({ keyId: old.keyId, ...args });
      const { workspace, setup } = old;
      return world.learnKey(made, { workspace, setup }, { key: old, call });
    },
  ),
  updateRemaining: onKey(
    6,
    (random) => ({
      op: random.pick(["increment", "increment", "decrement", "set"]),
      value: random.between(1, 2),
      ...sometimesRepeatable(random),
    }),
    (latchkey, { keyId }, args) => latchkey.updateRemaining({ keyId, ...args }),
  ),
  setLimit: onKey(
    4,
    (random) => ({ limit: random.chance(25) ? null : figuresOf(random) }),
    (latchkey, { keyId }, { limit }) => latchkey.updateKey({ keyId, ratelimit: limit }),
  ),
  resetLimit: onKey(2, nothing, (latchkey, { keyId }) =>
    latchkey.resetLimit({ keyId, name: "default" }),
  ),
  readLog: onKey(1, nothing, (latchkey, { keyId }) =>
    latchkey.listAuditEvents({ keyId, limit: 100 }),
  ),
  getKey: onKey(4, nothing, (latchkey, { keyId }) => latchkey.getKey({ keyId })),
  reportLeak: onKey(
    2,
    (random) => ({ policy: random.pick(["disable", "disable", "delete"]) }),
    (latchkey, { secret: key }, { policy }, _, { index }) =>
      latchkey.reportLeaks({ leaks: [{ key, url: `https://example.com/${index}` }], policy }),
  ),
  revokeOwn: onKey(1, nothing, async (latchkey, { keyId, workspace }, _, world) => {
    const { secret } = await latchkey.createPortalSession({
      externalId: "user_0",
      allow: { apiIds: [world.workspaceOf(workspace).apiId], revoke: true },
    });
    const session = await latchkey.openPortalSession(secret);
    return session === null ? "there is no session" : session.revokeMyKey({ keyId });
  }),
} as const;

const WORKSPACE_ACTIONS = {
  createKey: inWorkspace(
    4,
    (random) => ({
      remaining: random.pick([null, 1, 2]),
      identity: random.chance(40) ? 0 : null,
      hasRole: random.chance(50),
      ...sometimesRepeatable(random),
    }),
    (latchkey, { id }, { idempotencyKey, ...args }, world) => {
      const workspace = world.workspaces.findIndex((one) => one.id === id);
      const setup = { ...args, refill: null, limit: null, slots: null, usesFrom: "key" } as const;
      return world.createKey(latchkey, workspace, setup, idempotencyKey);
    },
  ),
  allowList: inWorkspace(
    7,
    (random) => ({ ranges: random.pick(ALLOW_LISTS) }),
    (latchkey, { apiId }, { ranges }) =>
      latchkey.updateApi({ apiId, ipWhitelist: ranges.length === 0 ? null : ranges }),
  ),
  limitIdentity: inWorkspace(
    6,
    (random) => ({
      limits: random.chance(30)
        ? []
        : [
            {
              name: random.pick(["default", "shared", "shared"]),
              ...figuresOf(random),
              autoApply: true,
            },
          ],
    }),
    (latchkey, { identityIds }, { limits }) =>
      latchkey.updateIdentity({ identityId: identityIds[0] as string, ratelimits: limits }),
  ),
  switchWorkspace: inWorkspace(
    2,
    (random) => ({ enabled: random.chance(70) }),
    (latchkey, _, { enabled }) => latchkey.setWorkspaceEnabled(enabled),
  ),
  deleteIdentity: inWorkspace(1, nothing, (latchkey, { identityIds }) =>
    latchkey.deleteIdentity({ identityId: identityIds[0] as string }),
  ),
  deleteApi: inWorkspace(1, nothing, (latchkey, { apiId }) => latchkey.deleteApi({ apiId })),
  limit: inWorkspace(
    8,
    (random) => ({
      identifier: random.pick(["a", "b"]),
      duration: random.pick([1_000, 60_000]),
      ...algorithmOf(random),
    }),
    (latchkey, _, args) => latchkey.limit({ limit: 2, ...args }),
  ),
  pruneLog: inWorkspace(
    1,
    (random) => ({ agoMs: random.pick([0, 1_000, 60_000]) }),
    (latchkey, _, { agoMs }) => latchkey.pruneAuditEvents({ before: latchkey.now() - agoMs }),
  ),
  notice: inWorkspace(
    4,
    (random) => ({ limit: random.pick([1, 100]) }),
    (latchkey, _, args) => latchkey.notice(args),
  ),
  listKeys: inWorkspace(3, nothing, (latchkey, { apiId }) => latchkey.listKeys({ apiId })),
} as const;

const WORLD_ACTIONS = {
  kill: byWorld(3, nothing, ({ world, process }) => world.kill(process)),
  setClock: byWorld(
    3,
    (random) => ({ offset: random.pick([0, -60_000, 5_000, 172_800_000]) }),
    ({ world, process }, { offset }) => world.setClock(process, offset as number),
  ),
  stopStore: byWorld(
    2,
    (random) => ({ ms: random.between(1, 3_000) }),
    ({ world }, { ms }) => world.stopStore(ms as number),
    ["calm", "rough"],
  ),
  fillStore: byWorld(
    1,
    (random) => ({ ms: random.between(1, 3_000) }),
    ({ world }, { ms }) => world.fillStore(ms as number),
    ["calm", "rough"],
  ),
  damage: byWorld(
    1,
    (random) => ({ key: random.below(1_000), how: random.below(4) }),
    ({ world }, { key, how }) => damage(world, key as number, how as number),
  ),
  moveStore: byWorld(1, nothing, ({ world }) => world.moveStore(), ["calm"]),
  failOver: byWorld(
    4,
    (random) => ({ count: random.pick([1, 1, 2, 2, 3, 3, 8, 30]) }),
    ({ world }, { count }) => world.failOver(count as number),
    ["calm", "rough"],
  ),
} as const;

/** Repeats an earlier request under its id, or a write under its idempotency key, in any process, whatever has changed since. */
const repeat = byWorld(
  12,
  (random) => ({ drawn: random.below(1_000) }),
  (stage, { drawn }) =>
    performAgain(
      stage,
      drawn as number,
      ({ args }) => args.requestId !== undefined || args.idempotencyKey !== undefined,
    ),
);

/** Calls that only one program at a time makes. */
const BY_ONE: ReadonlySet<string> = new Set(["readEvents", "webhooks"]);

/** Makes a recent call once more, in any process: often two are made at the same time, which want the same. */
const again = byWorld(
  12,
  (random) => ({ drawn: random.below(1_000) }),
  (stage, { drawn }) => performAgain(stage, drawn as number, ({ action }) => !BY_ONE.has(action)),
);

/** Performs the action of an earlier call: of one of the latest three that fit. */
function performAgain(
  { world, process }: Parameters<Action["perform"]>[0],
  drawn: number,
  fits: (call: Call) => boolean,
): void {
  const calls = world.calls.filter(fits).slice(-3);
  const call = calls[drawn % Math.max(1, calls.length)];
  if (call === undefined) return;
  const { action, args, key, workspace } = call;
  const about = key === null ? { workspace } : { key: world.keys.indexOf(key) };
  ACTIONS[action as ActionName].perform({ world, process, action }, { ...args, ...about });
}

/** All actions, by name. */
export const ACTIONS = {
  ...KEY_ACTIONS,
  ...GUARD_ACTIONS,
  ...HOLD_ACTIONS,
  ...GRANT_ACTIONS,
  ...MANY_KEYS_ACTIONS,
  ...READER_ACTIONS,
  ...ROOT_KEY_ACTIONS,
  ...SESSION_ACTIONS,
  ...WEBHOOK_ACTIONS,
  ...WORKSPACE_ACTIONS,
  ...WORLD_ACTIONS,
  repeat,
  again,
};

/** Name of an action. */
export type ActionName = keyof typeof ACTIONS;
