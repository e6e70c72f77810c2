import type { Latchkey, RecordKind } from "@latchkey/core";
import { expect } from "vitest";
import { DAMAGES, type Damage, damagesOfMembers } from "../damage.js";
import type { RunsOf } from "../every-store.js";
import { HOUR_MS, type TestContext } from "../test-context.js";
import type { Journey } from "./journey.js";

/** A key with every setting and everything that a key can refer to, in its own workspace. */
interface Fixture {
  readonly workspaceId: string;
  readonly apiId: string;
  readonly identityId: string;
  readonly roleId: string;
  readonly permissionId: string;
  readonly keyId: string;
  readonly key: string;
}

/** Records that can be damaged: the key, and those that it refers to. */
const TARGETS: readonly {
  readonly kind: RecordKind;
  readonly idOf: (fixture: Fixture) => string;
  /** Members of its body that are damaged one by one. */
  readonly members: readonly string[];
}[] = [
  { kind: "key", idOf: ({ keyId }) => keyId, members: ["apiId", "hash", "refill"] },
  { kind: "api", idOf: ({ apiId }) => apiId, members: ["name", "ipWhitelist"] },
  { kind: "identity", idOf: ({ identityId }) => identityId, members: ["externalId", "ratelimits"] },
  { kind: "role", idOf: ({ roleId }) => roleId, members: ["name", "permissions"] },
  { kind: "permission", idOf: ({ permissionId }) => permissionId, members: ["name"] },
  { kind: "workspace", idOf: ({ workspaceId }) => workspaceId, members: ["name", "disabled"] },
];

type Target = (typeof TARGETS)[number];

/** A way to revoke a key, alone or together with its API, identity or workspace. */
interface Revocation {
  readonly revoke: (latchkey: Latchkey, fixture: Fixture) => Promise<unknown>;
  readonly type: string;
  /** Possible verdicts on the key afterwards. */
  readonly codes: readonly string[];
  /** Whether its log entry contains the whole key, and so needs everything that the key refers to. */
  readonly tellsAll: boolean;
}

const DELETE_KEY: Revocation = {
  revoke: (latchkey, { keyId }) => latchkey.deleteKey({ keyId }),
  type: "key.deleted",
  codes: ["NOT_FOUND"],
  tellsAll: true,
};
const DISABLE_KEY: Revocation = {
  revoke: (latchkey, { keyId }) => latchkey.updateKey({ keyId, enabled: false }),
  type: "key.updated",
  // Only a process that has to read the record anew meets the damage.
  codes: ["DISABLED", "STORE_CORRUPT"],
  tellsAll: true,
};
const REVOCATIONS: readonly Revocation[] = [
  DELETE_KEY,
  DISABLE_KEY,
  {
    ...DELETE_KEY,
    revoke: (latchkey, { apiId }) => latchkey.deleteKeys({ apiId }),
    tellsAll: false,
  },
  {
    ...DELETE_KEY,
    revoke: (latchkey, { keyId }) => latchkey.deleteKeys({ keyIds: [keyId] }),
    tellsAll: false,
  },
  {
    ...DISABLE_KEY,
    revoke: (latchkey, { apiId }) => latchkey.disableKeys({ apiId }),
    tellsAll: false,
  },
  {
    ...DISABLE_KEY,
    revoke: (latchkey, { keyId }) => latchkey.updateKeys({ keyIds: [keyId], enabled: false }),
  },
  {
    ...DELETE_KEY,
    revoke: (latchkey, { apiId }) => latchkey.deleteApi({ apiId }),
    tellsAll: false,
  },
];

/** Revoking a key while its record, or one that it refers to, is damaged: as a whole, or in one member. */
export const REVOCATIONS_OF_DAMAGED: Journey = {
  resource: "revocations",
  title: "need no readable record, whichever one is damaged and how: every process sees them",
  async run(context, runs) {
    const processes = processesOf(context);
    const first = await makeKey(processes);
    const some = takerOf(runs);
    await Promise.all(
      TARGETS.map(async (target) => {
        for (const damage of DAMAGES)
          await Promise.all(
            some(REVOCATIONS).map((revocation) =>
              revokeUnreadable(processes, target, damage, revocation),
            ),
          );
        const { workspaceId } = first;
        const members = await damagesOfMembers(
          context.store,
          target.kind,
          target.idOf(first),
          workspaceId,
        );
        expect(members.map((member) => member.kind)).toEqual(
          expect.arrayContaining([...target.members]),
        );
        await Promise.all(some(members).map((damage) => revokeSpoilt(processes, target, damage)));
      }),
    );
  },
};

/** Takes as many cases as there shall be runs, and continues after them the next time. */
function takerOf(runs: RunsOf): <Item>(items: readonly Item[]) => readonly Item[] {
  let begin = 0;
  return (items) => {
    const count = Math.min(items.length, runs(items.length));
    const from = begin % items.length;
    begin += count;
    return [...items, ...items].slice(from, from + count);
  };
}

/** Latchkeys of four processes on one store. */
interface Processes extends Pick<TestContext, "store" | "now"> {
  /** Has created everything. */
  readonly maker: Latchkey;
  /** Has verified each key before anything was damaged. */
  readonly warm: Latchkey;
  /** Has read nothing before it revokes. */
  readonly revoker: Latchkey;
  /** Has read the damaged records. */
  readonly cold: Latchkey;
}

function processesOf({ latchkey, another, store, now }: TestContext): Processes {
  const [warm, revoker, cold] = [another(), another({ store }), another({ store })];
  return { store, now, maker: latchkey, warm, revoker, cold };
}

/** Revokes with an unreadable record: before, only processes that know it admit the key; afterwards, none does. */
async function revokeUnreadable(
  processes: Processes,
  { kind, idOf }: Target,
  { damage }: Damage,
  { revoke, type, codes, tellsAll }: Revocation,
): Promise<void> {
  const fixture = await makeKey(processes);
  const { workspaceId, key, keyId, identityId } = fixture;
  await damage(processes.store, kind, idOf(fixture), workspaceId);
  expect(await codeOf(processes.cold.workspace(workspaceId), key)).toBe("STORE_CORRUPT");
  const revoker = processes.revoker.workspace(workspaceId);
  await revoke(revoker, fixture);
  await expectCodes(processes, fixture, codes);
  for (const filter of [{ keyId }, { identityId }]) {
    const { events } = await revoker.listAuditEvents(filter);
    const entries = events.filter((event) => event.type === type);
    expect(entries).toMatchObject([{ resourceId: keyId, keyId, identityId }]);
    expect(entries[0]?.unreadable).toBe(tellsAll || kind === "key" ? true : undefined);
    expect(JSON.stringify(entries)).not.toContain("broken");
  }
}

/** Revokes with one unreadable member in a record. Some members are objects, which may contain anything. */
async function revokeSpoilt(processes: Processes, target: Target, damage: Damage): Promise<void> {
  const fixture = await makeKey(processes);
  const { workspaceId } = fixture;
  await damage.damage(processes.store, target.kind, target.idOf(fixture), workspaceId);
  const revoker = processes.revoker.workspace(workspaceId);
  for (const { revoke, codes } of [DISABLE_KEY, DELETE_KEY]) {
    await revoke(revoker, fixture);
    await expectCodes(processes, fixture, codes);
  }
}

async function makeKey({ maker, warm, now }: Processes): Promise<Fixture> {
  const { workspaceId } = await maker.createWorkspace({ name: "Tide Office" });
  const latchkey = maker.workspace(workspaceId);
  const limit = { limit: 3, duration: HOUR_MS };
  const externalId = "pier-7";
  const [{ apiId }, { identityId }, { permissionId }] = await Promise.all([
    latchkey.createApi({ name: "tide tables", deleteProtection: false, ipWhitelist: [ADDRESS] }),
    latchkey.createIdentity({
      externalId,
      meta: { berth: 4 },
      remaining: 3,
      refill: { interval: "daily", amount: 3 },
      ratelimits: [{ name: "all", ...limit }],
    }),
    latchkey.createPermission({ name: "tides.read", description: "Read tides" }),
  ]);
  const { roleId } = await latchkey.createRole({ name: "pilot", permissions: ["tides.read"] });
  const { key, keyId } = await latchkey.createKey({
    apiId,
    externalId,
    name: "north pier",
    meta: { berth: 4 },
    expires: now() + HOUR_MS,
    remaining: 3,
    refill: { interval: "monthly", amount: 3, refillDay: 31 },
    ratelimits: [{ name: "reads", ...limit }],
    environment: "live",
    recoverable: true,
    roles: ["pilot"],
    permissions: ["tides.read"],
  });
  expect(await codeOf(warm.workspace(workspaceId), key)).toBe("VALID");
  return { workspaceId, apiId, identityId, roleId, permissionId, keyId, key };
}

const ADDRESS = "192.0.2.1";

async function expectCodes(
  { maker, warm, revoker, cold }: Processes,
  { workspaceId, key }: Fixture,
  codes: readonly string[],
): Promise<void> {
  for (const one of [maker, warm, revoker, cold])
    expect(codes).toContain(await codeOf(one.workspace(workspaceId), key));
}

/** The verdict on a secret, or the code of the error instead. */
async function codeOf(latchkey: Latchkey, key: string): Promise<string | undefined> {
  try {
    return (await latchkey.verifyKey({ key, ipAddress: ADDRESS })).code;
  } catch (error) {
    return (error as { readonly code?: string }).code;
  }
}
