import {
  createLatchkey,
  type InputOf,
  type KeyStore,
  type Latchkey,
  LatchkeyError,
  OPERATIONS,
  type OperationName,
} from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import type { Named } from "../named.js";
import { DAY_MS, NOON, VAULT_KEYS } from "../test-context.js";

type Kind = keyof Named;
const HERE = "was deleted here";

/** What happened to the named resource. */
const FATES = ["exists elsewhere", "was deleted elsewhere", HERE] as const;
const END_OF_NAMES = { "exists elsewhere": "e", "was deleted elsewhere": "d", [HERE]: "h" };
type Fate = (typeof FATES)[number] | "never was" | "is mine";

const RANGE = { start: NOON - DAY_MS, end: NOON };
const LIMIT = { identifier: "pier", limit: 9, duration: 60_000 };
const portalOf = (allow: InputOf<"createPortalSession">["allow"]) => ({ externalId: "p", allow });

/** A secret of the caller's own workspace is a conflict with any API. */
const TAKEN_IF_MINE = ({ apiId, key }: Named) => [{ apiId, plaintext: key }];

const OF_KEYS: readonly ((named: Named) => InputOf<"deleteKeys">)[] = [
  ({ apiId }) => ({ apiId }),
  ({ apiId, externalId }) => ({ apiId, externalId }),
  ({ externalId }) => ({ externalId }),
  ({ identityId }) => ({ identityId }),
  ({ keyId }) => ({ keyIds: [keyId] }),
];

/** Inputs of each operation with the names in them. Every read of a name is tried. */
const INPUTS: {
  readonly [Name in OperationName]: readonly ((named: Named) => InputOf<Name>)[];
} = {
  createApi: [({ apiName }) => ({ name: apiName })],
  ensureApi: [({ apiName }) => ({ name: apiName })],
  getApi: [({ apiId }) => ({ apiId })],
  listApis: [() => ({})],
  updateApi: [({ apiId }) => ({ apiId, name: "renamed" })],
  deleteApi: [({ apiId }) => ({ apiId })],
  createKey: [
    ({ apiId, externalId }) => ({ apiId, externalId }),
    ({ apiId, roleName }) => ({ apiId, roles: [roleName] }),
    ({ apiId, permissionName }) => ({ apiId, permissions: [permissionName] }),
  ],
  createKeys: [
    ({ apiId, externalId }) => [{ apiId, plaintext: "sk_live_1234567890abcdef", externalId }],
    TAKEN_IF_MINE,
    ({ apiId, roleName, permissionName }) => [
      { apiId, plaintext: "sk_1", roles: [roleName], permissions: [permissionName] },
    ],
  ],
  verifyKey: [
    ({ key }) => ({ key }),
    ({ key, apiId }) => ({ key, apiId, dryRun: true }),
    ({ key, permissionName }) => ({ key, authorization: { permissions: permissionName } }),
  ],
  exchangeKey: [({ key, apiId }) => ({ key, apiId, audience: "tides" })],
  explainKey: [({ keyId }) => ({ keyId }), ({ keyId, apiId }) => ({ keyId, apiId })],
  reserve: [
    ({ key }) => ({ key }),
    ({ key, apiId }) => ({ key, apiId }),
    ({ key, permissionName }) => ({ key, authorization: { permissions: permissionName } }),
  ],
  settle: [({ reservationId }) => ({ reservationId, remaining: { cost: 1 } })],
  release: [({ reservationId }) => ({ reservationId })],
  renew: [({ reservationId }) => ({ reservationId, ttl: "1m" })],
  listReservations: [({ keyId }) => ({ keyId }), ({ identityId }) => ({ identityId })],
  whoami: [({ key }) => ({ key })],
  findApiOfKey: [({ keyId }) => ({ keyId })],
  getKey: [({ keyId }) => ({ keyId }), ({ keyId }) => ({ keyId, decrypt: true })],
  listKeys: [
    ({ apiId }) => ({ apiId }),
    ({ apiId, externalId }) => ({ apiId, externalId }),
    ({ identityId }) => ({ identityId }),
    ({ roleName, permissionName }) => ({ role: roleName, permission: permissionName }),
  ],
  updateKey: [
    ({ keyId }) => ({ keyId, name: "renamed" }),
    ({ keyId, externalId }) => ({ keyId, externalId }),
    ({ keyId, roleName, permissionName }) => ({
      keyId,
      roles: [roleName],
      permissions: [permissionName],
    }),
  ],
  updateKeys: [
    ({ keyId }) => ({ keyIds: [keyId], name: "renamed" }),
    ({ keyId, externalId }) => ({ keyIds: [keyId], externalId }),
  ],
  updateRemaining: [
    ({ keyId }) => ({ keyId, op: "set", value: 7 }),
    ({ identityId }) => ({ identityId, op: "set", value: 7 }),
    ({ externalId }) => ({ externalId, op: "set", value: 7 }),
  ],
  rotateKey: [({ keyId }) => ({ keyId, graceMs: 1_000 })],
  addRoles: [({ keyId, roleId }) => ({ keyId, roles: [{ id: roleId }] })],
  setRoles: [({ keyId, roleName }) => ({ keyId, roles: [{ name: roleName }] })],
  removeRoles: [({ keyId, roleId }) => ({ keyId, roles: [{ id: roleId }] })],
  addPermissions: [({ keyId, permissionId }) => ({ keyId, permissions: [{ id: permissionId }] })],
  setPermissions: [
    ({ keyId, permissionName }) => ({ keyId, permissions: [{ name: permissionName }] }),
  ],
  removePermissions: [
    ({ keyId, permissionId }) => ({ keyId, permissions: [{ id: permissionId }] }),
  ],
  deleteKey: [({ keyId }) => ({ keyId })],
  deleteKeys: OF_KEYS,
  disableKeys: OF_KEYS,
  enableKeys: OF_KEYS,
  reencryptKeys: [({ apiId }) => ({ apiId })],
  reportLeaks: [({ key }) => ({ leaks: [{ key }] })],
  createIdentity: [({ externalId }) => ({ externalId: `${externalId}.` })],
  getIdentity: [({ identityId }) => ({ identityId }), ({ externalId }) => ({ externalId })],
  listIdentities: [() => ({})],
  updateIdentity: [
    ({ identityId }) => ({ identityId, meta: { plan: "pro" } }),
    ({ externalId }) => ({ externalId, meta: { plan: "pro" } }),
  ],
  deleteIdentity: [
    ({ identityId }) => ({ identityId }),
    ({ identityId }) => ({ identityId, keys: "delete" }),
  ],
  eraseIdentity: [({ identityId }) => ({ identityId }), ({ externalId }) => ({ externalId })],
  limit: [({ namespace }) => ({ namespace, ...LIMIT })],
  resetLimit: [
    ({ keyId }) => ({ keyId, name: "default", duration: 60_000 }),
    ({ identityId }) => ({ identityId, name: "tiles" }),
    ({ namespace }) => ({ namespace, identifier: "pier", duration: 60_000 }),
  ],
  createPermission: [({ permissionName }) => ({ name: `${permissionName}.` })],
  ensurePermissions: [({ permissionName }) => [permissionName]],
  getPermission: [({ permissionId }) => ({ permissionId })],
  listPermissions: [],
  deletePermission: [({ permissionId }) => ({ permissionId })],
  createRole: [({ permissionName }) => ({ name: "new", permissions: [permissionName] })],
  ensureRole: [
    ({ roleName, permissionName }) => ({ name: roleName, permissions: [permissionName] }),
  ],
  getRole: [({ roleId }) => ({ roleId })],
  listRoles: [],
  setRolePermissions: [({ roleId, permissionName }) => ({ roleId, permissions: [permissionName] })],
  deleteRole: [({ roleId }) => ({ roleId })],
  createRootKey: [() => ({ permissions: ["*"] })],
  listRootKeys: [() => ({})],
  authenticateRootKey: [],
  updateRootKey: [({ rootKeyId }) => ({ rootKeyId, name: "harbour" })],
  rotateRootKey: [({ rootKeyId }) => ({ rootKeyId })],
  revokeRootKey: [({ rootKeyId }) => ({ rootKeyId })],
  createPortalSession: [
    ({ apiId, externalId }) => ({ externalId, allow: { apiIds: [apiId] } }),
    ({ apiId, permissionName }) => portalOf({ apiIds: [apiId], permissions: [permissionName] }),
  ],
  revokePortalSession: [({ identityId }) => ({ identityId }), ({ externalId }) => ({ externalId })],
  openPortalSession: [],
  createWorkspace: [() => ({ name: "harbour" })],
  listWorkspaces: [() => ({})],
  updateWorkspace: [() => ({ name: "harbour" })],
  deleteWorkspace: [],
  getWorkspace: [],
  isWorkspaceEnabled: [],
  setWorkspaceEnabled: [],
  getVerifications: [
    ({ keyId }) => ({ keyId, ...RANGE }),
    ({ apiId }) => ({ apiId, ...RANGE }),
    ({ identityId }) => ({ identityId, ...RANGE }),
    ({ externalId }) => ({ externalId, ...RANGE }),
  ],
  exportUsage: [() => ({ ...RANGE, granularity: "hour", by: "key" })],
  pruneVerifications: [() => ({ before: NOON })],
  listAuditEvents: [
    ({ keyId }) => ({ keyId }),
    ({ identityId }) => ({ identityId }),
    ({ rootKeyId }) => ({ actor: rootKeyId }),
  ],
  readEvents: [() => ({})],
  notice: [() => ({})],
  pruneAuditEvents: [() => ({ before: NOON })],
};

/** Names and ids of no record. The names are free, and answers may repeat them. */
const OF_NOBODY: Named = {
  apiId: "api_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  apiName: "harbour-n",
  keyId: "key_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  key: "sk_never_2NEPo7TZRRrLZSi2U3T1x1",
  identityId: "id_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  externalId: "pier-n",
  roleId: "role_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  roleName: "pilot-n",
  permissionId: "perm_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  permissionName: "tides.n",
  rootKeyId: "root_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  namespace: "mail-n",
  reservationId: "rsv_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
};

/** The same bytes in every world that is created in the same way. */
function repeatable(seed: number) {
  let state = seed;
  return (size: number) =>
    Uint8Array.from({ length: size }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff;
      return state >>> 16;
    });
}

/** Creates one of everything, with names that share an ending. */
async function make(latchkey: Latchkey, end: string): Promise<Named> {
  const [apiName, externalId] = [`harbour-${end}`, `pier-${end}`];
  const [roleName, permissionName] = [`pilot-${end}`, `tides.${end}`];
  const { apiId } = await latchkey.createApi({ name: apiName });
  const { permissionId } = await latchkey.createPermission({ name: permissionName });
  const { roleId } = await latchkey.createRole({ name: roleName, permissions: [permissionName] });
  const ratelimits = [{ name: "tiles", limit: 9, duration: 60_000 }];
  const { identityId } = await latchkey.createIdentity({ externalId, ratelimits });
  const { keyId, key } = await latchkey.createKey({
    apiId,
    externalId,
    roles: [roleName],
    permissions: [permissionName],
    recoverable: true,
    remaining: 5,
    ratelimit: { limit: 9, duration: 60_000 },
  });
  const { rootKeyId } = await latchkey.createRootKey({ permissions: ["*"] });
  const namespace = `mail-${end}`;
  await latchkey.limit({ namespace, ...LIMIT });
  const held = await latchkey.reserve({ key });
  const { reservationId } = held as Extract<typeof held, { readonly code: "VALID" }>;
  const ids = { apiId, keyId, key, identityId, roleId, permissionId, rootKeyId, reservationId };
  return { ...ids, apiName, externalId, roleName, permissionName, namespace };
}

async function remove(latchkey: Latchkey, named: Named): Promise<void> {
  await latchkey.deleteKey({ keyId: named.keyId });
  await latchkey.deleteApi({ apiId: named.apiId });
  await latchkey.deleteIdentity({ identityId: named.identityId });
  await latchkey.deleteRole({ roleId: named.roleId });
  await latchkey.deletePermission({ permissionId: named.permissionId });
  await latchkey.revokeRootKey({ rootKeyId: named.rootKeyId });
  await latchkey.resetLimit({ namespace: named.namespace, identifier: "pier", duration: 60_000 });
}

interface World {
  readonly mine: Latchkey;
  readonly own: Named;
  /** Records of this world by fate, and records that never existed. */
  readonly fates: Partial<Record<Fate, Named>>;
}

/** Two new workspaces in a store, with records of these fates. Records that all worlds have in common get the same ids in each. */
async function openWorld(store: KeyStore, number: number, wanted: readonly Fate[]): Promise<World> {
  let instant = NOON;
  let random = repeatable(7);
  const options = { store, clock: () => instant, usage: false as const };
  const latchkey = createLatchkey({
    ...options,
    vault: { current: "a", keys: { a: VAULT_KEYS[0] } },
    tokens: { current: "t", keys: { t: VAULT_KEYS[1] } },
    random: (size) => random(size),
    workspaceId: `ws_mine_${number}`,
  });
  const mine = withOwnRootKeys(latchkey, options);
  const theirs = withOwnRootKeys(latchkey.workspace(`ws_theirs_${number}`), options);
  const own = await make(mine, "o");
  const fates: Partial<Record<Fate, Named>> = { "never was": OF_NOBODY, "is mine": own };
  for (const fate of FATES.filter((each) => wanted.includes(each))) {
    const where = fate === HERE ? mine : theirs;
    const made = await make(where, END_OF_NAMES[fate]);
    if (fate !== "exists elsewhere") await remove(where, made);
    fates[fate] = made;
  }
  // From here on, new records get the same ids, whatever was created before.
  instant += 1;
  random = repeatable(11);
  return { mine, own, fates };
}

/** Makes the secrets of root keys differ between worlds, because root keys share one name space in the whole store. */
function withOwnRootKeys(
  latchkey: Latchkey,
  options: { readonly store: KeyStore; readonly clock: () => number; readonly usage: false },
): Latchkey {
  const { workspaceId } = latchkey;
  const { createRootKey } = createLatchkey({ ...options, workspaceId });
  return { ...latchkey, createRootKey };
}

/** The kinds of resources that an input names. */
function kindsIn(input: (named: Named) => unknown): Kind[] {
  const kinds = new Set<Kind>();
  const noting = new Proxy(OF_NOBODY, {
    get(target, kind: Kind) {
      kinds.add(kind);
      return target[kind];
    },
  });
  input(noting);
  return [...kinds];
}

const isRefusal = (outcome: string) => outcome.startsWith('{"name":"LatchkeyError"');

/** Everything that a caller learns, without the text that it has given itself. */
async function learnt(call: () => Promise<unknown>, given: string): Promise<string> {
  const outcome = await call().then(
    (answer) => ({ answer }),
    (error: unknown) => {
      if (!(error instanceof LatchkeyError)) throw error;
      const { name, code, reason, message, details, issues, outcome, cause } = error;
      return { name, code, reason, message, details, issues, outcome, cause };
    },
  );
  return JSON.stringify(outcome).replaceAll(given, "<given>");
}

interface Case {
  readonly name: OperationName;
  readonly input: (named: Named) => unknown;
  readonly kind: Kind;
}

const CASES: readonly Case[] = Object.entries(INPUTS).flatMap(([name, inputs]) =>
  (inputs as readonly ((named: Named) => unknown)[]).flatMap((input) =>
    kindsIn(input).map((kind) => ({ name: name as OperationName, input, kind })),
  ),
);

/** Operations that may reveal records that the workspace itself has deleted, because its log keeps them. */
const KEPT_HERE: ReadonlySet<string> = new Set(["listAuditEvents", "eraseIdentity"]);

/** Operations that name nothing of a workspace. The secret of a root key itself names its workspace. */
const NAMES_NOTHING: readonly OperationName[] = [
  "listPermissions",
  "listRoles",
  "authenticateRootKey",
  "openPortalSession",
  "getWorkspace",
  "isWorkspaceEnabled",
  "setWorkspaceEnabled",
  "deleteWorkspace",
];

describe("the inputs above", () => {
  test("cover every operation, and every resource that an operation names", () => {
    expect(Object.keys(INPUTS).sort()).toEqual(Object.keys(OPERATIONS).sort());
    const empty = Object.entries(INPUTS).flatMap(([name, { length }]) => (length ? [] : [name]));
    expect(empty.sort()).toEqual([...NAMES_NOTHING].sort());
    for (const [name, { input }] of Object.entries(OPERATIONS)) {
      const fields = Object.keys((input as { shape?: object } | null)?.shape ?? {});
      const tried = CASES.filter((one) => one.name === name).map(({ kind }) => kind as string);
      const ids = fields.filter((field) => field in OF_NOBODY);
      expect([name, ids.filter((field) => !tried.includes(field))]).toEqual([name, []]);
    }
  });
});

const stores: KeyStore[] = [];
afterAll(() => Promise.all(stores.map((store) => store.close())));

describe.each([
  ["memory", () => memoryStore()],
  ["SQLite", () => sqliteStore(":memory:")],
])("on %s", (title, openStore) => {
  const store = openStore();
  stores.push(store);
  let worlds = 0;
  const newWorld = (...wanted: readonly Fate[]) => openWorld(store, ++worlds, wanted);
  /** One world for all refusals, because a refusal changes nothing. */
  const shared = newWorld(...FATES);

  const learn = async ({ name, input, kind }: Case, { mine, own, fates }: World, fate: Fate) => {
    const given = fates[fate]?.[kind];
    if (given === undefined) throw new TypeError(`nothing in this world ${fate}`);
    const run = mine[name] as (input: unknown) => Promise<unknown>;
    return learnt(() => run(input({ ...own, [kind]: given })), given);
  };

  test.each(CASES)("$name: a foreign $kind answers as one that never was", async (one) => {
    const alone = await newWorld();
    const never = await learn(one, alone, "never was");
    const isRefused = isRefusal(never);
    for (const fate of FATES.filter((each) => each !== HERE || !KEPT_HERE.has(one.name))) {
      const world = await (isRefused ? shared : newWorld(fate));
      expect([fate, await learn(one, world, fate)]).toEqual([fate, never]);
    }
    if (isRefused && title === "memory" && one.input !== TAKEN_IF_MINE)
      expect(await learn(one, alone, "is mine")).not.toEqual(never);
  });
});
