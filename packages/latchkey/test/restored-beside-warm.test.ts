import { join } from "node:path";
import { type KeyStore, type Latchkey, LatchkeyError, type PortalSession } from "@latchkey/core";
import { backup, restore } from "@latchkey/transfer";
import { expect, test } from "vitest";
import { tempFolder } from "../src/testing/temp-folder.js";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, HOUR_MS, type TestContext } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20261129);
const LEASE_MS = 20;
const USERS = ["pier-1", "pier-2"];
const ROLES = ["reader", "writer"];
const PERMISSIONS = ["docs.read", "docs.write"];

/** What was ever created: all secrets that a caller may present. */
interface Made {
  readonly apiIds: string[];
  readonly keys: { readonly key: string; readonly keyId: string }[];
  readonly rootKeys: { readonly key: string; readonly rootKeyId: string }[];
  readonly reservationIds: string[];
  readonly sessions: { readonly secret: string; readonly sessionId: string }[];
}

const ignoring =
  (...codes: readonly string[]) =>
  (error: unknown) => {
    if (!(error instanceof LatchkeyError) || !codes.includes(error.code)) throw error;
    return null;
  };

/** One random change of the host. */
async function change(latchkey: Latchkey, chance: Chance, made: Made): Promise<void> {
  const apiId = chance.pick(made.apiIds);
  const externalId = chance.pick(USERS);
  const create = async () => {
    const roles = chance.below(2) === 0 ? [chance.pick(ROLES)] : [];
    const ratelimit = { limit: 3 + chance.below(5), duration: DAY_MS };
    const limits = [{}, { remaining: 1 + chance.below(6) }, { ratelimit }, { externalId }] as const;
    made.keys.push(await latchkey.createKey({ apiId, roles, ...chance.pick(limits) }));
  };
  if (made.keys.length === 0) return create();
  const { keyId, key } = chance.pick(made.keys);
  const rootKeyId = made.rootKeys.length === 0 ? "root_1" : chance.pick(made.rootKeys).rootKeyId;
  const acts: readonly (() => Promise<unknown>)[] = [
    create,
    create,
    () => latchkey.updateKey({ keyId, enabled: chance.below(2) === 0 }),
    () => latchkey.updateKey({ keyId, remaining: chance.below(9) }),
    async () => {
      const verdict = await latchkey.reserve({ key, remaining: { cost: 2 }, ttl: HOUR_MS });
      if ("reservationId" in verdict && verdict.reservationId !== undefined)
        made.reservationIds.push(verdict.reservationId);
    },
    () => latchkey.settle({ reservationId: chance.pick(["rsv_1", ...made.reservationIds]) }),
    () => latchkey.updateKey({ keyId, externalId: chance.pick([...USERS, null]) }),
    () => latchkey.deleteKey({ keyId }),
    async () => made.keys.push(await latchkey.rotateKey({ keyId, graceMs: HOUR_MS })),
    () =>
      latchkey.ensureRole({
        name: chance.pick(ROLES),
        permissions: PERMISSIONS.slice(chance.below(2), 1 + chance.below(2)),
      }),
    () => latchkey.updateApi({ apiId, ipWhitelist: chance.pick([null, ["192.0.2.7"]]) }),
    async () => made.rootKeys.push(await latchkey.createRootKey({ permissions: ["*"] })),
    () => latchkey.revokeRootKey({ rootKeyId }),
    async () => {
      const allow = { apiIds: [apiId], create: true, rotate: true, revoke: true, permissions: [] };
      made.sessions.push(await latchkey.createPortalSession({ externalId, allow }));
    },
    () => latchkey.revokePortalSession({ externalId }),
    () => latchkey.setWorkspaceEnabled(chance.below(4) > 0),
  ];
  await chance
    .pick(acts)()
    .catch(ignoring("NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"));
}

const unless = async (call: Promise<unknown>): Promise<unknown> =>
  call.catch((error: unknown) => (error instanceof LatchkeyError ? error.code : error));

/** Sessions that a process has opened and holds on to. */
const held = new WeakMap<Latchkey, Map<string, PortalSession>>();

/** The keys that a session shows in a process; null if the session is over. */
async function keysIn(latchkey: Latchkey, secret: string): Promise<unknown> {
  const sessions = held.get(latchkey) ?? new Map<string, PortalSession>();
  held.set(latchkey, sessions);
  try {
    const session = sessions.get(secret) ?? (await latchkey.openPortalSession(secret));
    if (session === null) return null;
    sessions.set(secret, session);
    return await session.listMyKeys({});
  } catch (error) {
    return ignoring("UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND", "STORE_UNAVAILABLE")(error);
  }
}

/** All that a process answers, without taking anything. */
async function answersOf(latchkey: Latchkey, made: Made): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (const { key, keyId } of made.keys) {
    answers.push(await unless(latchkey.verifyKey({ key, dryRun: true })));
    const authorization = { permissions: "docs.write" };
    answers.push(await unless(latchkey.verifyKey({ key, authorization, dryRun: true })));
    answers.push(await unless(latchkey.getKey({ keyId })));
  }
  for (const { key } of made.rootKeys) answers.push(await latchkey.authenticateRootKey(key));
  for (const { secret } of made.sessions) answers.push(await keysIn(latchkey, secret));
  for (const apiId of made.apiIds) {
    answers.push(await unless(latchkey.getApi({ apiId })));
    answers.push(await unless(latchkey.listKeys({ apiId })));
  }
  for (const externalId of USERS) answers.push(await unless(latchkey.getIdentity({ externalId })));
  answers.push(await latchkey.listRoles());
  return answers;
}

const verifySome = async (processes: readonly Latchkey[], made: Made, chance: Chance) => {
  for (const { key } of made.keys)
    if (chance.below(2) === 0) await unless(chance.pick(processes).verifyKey({ key }));
};

/** How many verifications of each key are admitted, by turns. */
async function admittedBy(processes: readonly Latchkey[], made: Made) {
  const admitted: number[] = [];
  for (const { key } of made.keys) {
    let count = 0;
    for (let turn = 0; turn < 12; turn += 1) {
      const verdict = await processes[turn % processes.length]?.verifyKey({ key });
      if (verdict?.valid) count += 1;
    }
    admitted.push(count);
  }
  return admitted;
}

/** Empties a store without any process knowing, and waits until leases have ended. */
async function flush(store: KeyStore, workspaceId: string): Promise<void> {
  for (let after = await store.forget(workspaceId, null); after !== null; )
    after = await store.forget(workspaceId, after);
  await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
}

/** A store whose process is killed before a random write. */
function dying(store: KeyStore, chance: Chance): KeyStore {
  let left = chance.below(25);
  return wrapped(store, {
    commit: async (...given) => {
      left -= 1;
      if (left < 0) throw new Error("killed");
      return store.commit(...given);
    },
  });
}

/** What a new key of each API is and can, or why there is none. */
async function newKeysIn(latchkey: Latchkey, { apiIds }: Made): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (const apiId of apiIds) {
    const made = await unless(latchkey.createKey({ apiId, externalId: "pier-1", roles: ROLES }));
    const { key = "" } = Object(made) as { readonly key?: string };
    const verdict = await latchkey.verifyKey({ key, ipAddress: "192.0.2.7" });
    const { permissions, identity } = verdict.valid ? verdict : {};
    answers.push(key === "" ? made : [verdict.code, permissions, identity]);
  }
  return answers;
}

async function restoreBesideWarm(context: TestContext, other: TestContext, seed: number) {
  const chance = chanceOf(seed);
  const { latchkey, store } = context;
  const { workspaceId } = latchkey;
  const made: Made = { apiIds: [], keys: [], rootKeys: [], reservationIds: [], sessions: [] };
  const warm = [latchkey, context.another(), context.another({ leases: { ms: LEASE_MS } })];
  for (const name of PERMISSIONS) await latchkey.createPermission({ name });
  for (const name of ROLES) await latchkey.createRole({ name, permissions: [] });
  for (const externalId of USERS) await latchkey.createIdentity({ externalId });
  for (const name of ["tide tables", "charts"])
    made.apiIds.push((await latchkey.createApi({ name })).apiId);
  const changes = async (count: number) => {
    for (let step = 0; step < count; step += 1) {
      await change(chance.pick(warm), chance, made).catch(ignoring("FORBIDDEN"));
      if (chance.below(3) === 0) await verifySome(warm, made, chance);
      if (chance.below(5) === 0) for (const one of warm) await answersOf(one, made);
    }
  };
  await changes(12);
  const path = join(tempFolder(), "keys.lkb");
  await backup(store, path);
  await restore(other.store, path);
  other.setClock(context.now());
  await changes(8);
  for (const one of warm) await answersOf(one, made);
  if (chance.below(2) === 0)
    await chance.pick(warm).deleteWorkspace({ workspaceId, confirm: workspaceId });
  else await flush(store, workspaceId);
  if (chance.below(2) === 0) await verifySome(warm, made, chance);
  await restore(dying(store, chance), path).catch(() => verifySome(warm, made, chance));
  await restore(store, path).catch(ignoring("PRECONDITION_FAILED"));

  const expected = await answersOf(other.latchkey, made);
  for (const [at, process] of [...warm, context.another()].entries())
    expect(await answersOf(process, made), `seed ${seed}, process ${at}`).toEqual(expected);
  const fresh = await newKeysIn(other.latchkey, made);
  for (const [at, process] of warm.entries())
    expect(await newKeysIn(process, made), `seed ${seed}, process ${at}`).toEqual(fresh);
  for (const reservationId of made.reservationIds) {
    const [ended, as] = await Promise.all(
      [chance.pick(warm), other.latchkey].map((one) =>
        unless(one.settle({ reservationId, remaining: { cost: 1 } })),
      ),
    );
    expect(ended, `seed ${seed}`).toEqual(as);
  }
  const admitted = await admittedBy([other.latchkey], made);
  expect(await admittedBy(warm.slice(0, 2), made), `seed ${seed}`).toEqual(admitted);
}

describeOnEveryStore("a backup that is restored while processes run", (open, runs) => {
  test("is what each of them answers from, whatever it knew before", {
    timeout: 120_000,
  }, async () => {
    for (let seed = SEED; seed < SEED + runs(16); seed += 1)
      await restoreBesideWarm(open(), open(), seed);
  });
});
