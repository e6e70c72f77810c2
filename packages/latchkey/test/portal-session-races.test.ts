import { type AuditEvent, type Latchkey, LatchkeyError, type PortalSession } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { type TestContext, workspacesOf } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20260612);

const USERS = ["pier-7", "pier-9"] as const;

/** The host's calls may meet records that are gone by now. */
async function orGone(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof LatchkeyError) || error.code === "STORE_UNAVAILABLE") throw error;
  });
}

async function allEvents(latchkey: Latchkey): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = [];
  for (let after: string | undefined; ; ) {
    const page: Awaited<ReturnType<Latchkey["readEvents"]>> = await latchkey.readEvents(
      after === undefined ? {} : { after },
    );
    events.push(...page.events);
    if (page.events.length === 0) return events;
    after = page.cursor;
  }
}

/** A session, and how many events there were when it was revoked. */
interface Session {
  readonly sessionId: string;
  readonly secret: string;
  readonly owner: string;
  eventsUntilRevoked: number;
}

/** Acts of the host that may end a session, or take something away from it. */
function hostActs(
  { latchkey }: TestContext,
  chance: Chance,
  apiIds: string[],
  sessions: ReadonlyMap<string, Session>,
): readonly (() => Promise<void>)[] {
  const identity = async () => (await latchkey.getIdentity({ externalId: chance.pick(USERS) })).id;
  const keyId = async () => {
    const { keys } = await latchkey.listKeys({ limit: 100 });
    return keys[chance.below(keys.length)]?.id ?? "key_none";
  };
  const keys = () => chance.pick(["unlink", "disable", "delete"] as const);
  const deleteIdentity = async () =>
    latchkey.deleteIdentity({ identityId: await identity(), keys: keys() });
  return [
    () => orGone(deleteIdentity()),
    async () => {
      const externalId = chance.pick(USERS);
      const { id } = await latchkey.getIdentity({ externalId }).catch(() => ({ id: null }));
      if (id !== null) await latchkey.deleteIdentity({ identityId: id, keys: keys() });
      await orGone(latchkey.createIdentity({ externalId }));
    },
    async () =>
      orGone(
        latchkey.updateKey({ keyId: await keyId(), externalId: chance.pick([...USERS, null]) }),
      ),
    async () => orGone(latchkey.deleteKey({ keyId: await keyId() })),
    async () => {
      if (apiIds.length > 1) await latchkey.deleteApi({ apiId: apiIds.pop() ?? "" });
    },
    async () => {
      const session = chance.pick([...sessions.values()]);
      await orGone(latchkey.revokePortalSession({ sessionId: session.sessionId }));
      const { length } = await allEvents(latchkey);
      session.eventsUntilRevoked = Math.min(session.eventsUntilRevoked, length);
    },
  ];
}

/** Calls in a session. */
const OWN_ACTS: readonly ((
  session: PortalSession,
  keyId: string,
  apiId: string,
) => Promise<unknown>)[] = [
  (session, _, apiId) => session.createMyKey({ apiId, name: "boat" }),
  (session, keyId) => session.renameMyKey({ keyId, name: "ship" }),
  (session, keyId) => session.rotateMyKey({ keyId, graceMs: 60_000 }),
  (session, keyId) => session.revokeMyKey({ keyId }),
];

/** What is wrong in a log, in the order of its commits: changes that a session made without being allowed to. */
function violations(
  events: readonly AuditEvent[],
  sessions: ReadonlyMap<string, Session>,
): readonly string[] {
  const owners = new Map<string, string | null>();
  const there = new Set<string>();
  return events.flatMap(({ type, actor = "", keyId = "", identityId, resourceId, changes }, at) => {
    const session = sessions.get(actor);
    const wrong: string[] = [];
    if (session !== undefined) {
      const owner = type === "key.created" ? identityId : owners.get(keyId);
      const apiId = changes.find(({ field }) => field === "apiId")?.after;
      if (!type.startsWith("key.")) wrong.push("is not about a key");
      if (owner !== session.owner) wrong.push("is about a key of somebody else");
      if (!there.has(session.owner)) wrong.push("comes after the end of its identity");
      if (type === "key.created" && !there.has(String(apiId))) wrong.push("is of a deleted API");
      if (at >= session.eventsUntilRevoked) wrong.push("comes after its revocation");
    }
    if (/^(api|identity)\.created$/.test(type)) there.add(resourceId);
    if (/^(api|identity)\.deleted$/.test(type)) there.delete(resourceId);
    const move = changes.find(({ field }) => field === "externalId");
    if (type === "key.created" || move?.after !== undefined) owners.set(keyId, identityId ?? null);
    else if (move !== undefined && type === "key.updated") owners.set(keyId, null);
    return wrong.map((why) => `event ${at}, ${type} by ${actor}, ${why}`);
  });
}

async function raceInSessions(context: TestContext, seed: number): Promise<readonly string[]> {
  const { latchkey, store } = context;
  const chance = chanceOf(seed);
  const apiIds: string[] = [];
  for (const name of ["tide tables", "charts"])
    apiIds.push((await latchkey.createApi({ name })).apiId);
  const sessions = new Map<string, Session>();
  const createSession = async () => {
    const [actor, externalId] = [`session-${sessions.size}`, chance.pick(USERS)];
    const allow = { apiIds: [...apiIds], create: true, rotate: true, revoke: true };
    const made = await latchkey.createPortalSession({ externalId, actor, allow });
    const { id: owner } = await latchkey.getIdentity({ externalId });
    sessions.set(actor, { ...made, owner, eventsUntilRevoked: Number.POSITIVE_INFINITY });
  };
  for (const _ of USERS) await createSession();
  const acts = hostActs(context, chance, apiIds, sessions);
  let mayOvertake = false;
  const overtaking = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (mayOvertake && chance.below(6) === 0) {
      mayOvertake = false;
      await chance.pick(acts)();
    }
    return call();
  };
  const beside = wrapped(store, {
    read: (...given) => overtaking(() => store.read(...given)),
    commit: (...given) => overtaking(() => store.commit(...given)),
  });
  for (let round = 0; round < 12; round += 1) {
    if (chance.below(4) === 0) await createSession();
    const apiId = chance.pick(apiIds);
    if (chance.below(2) === 0)
      await orGone(latchkey.createKey({ apiId, externalId: chance.pick(USERS) }));
    const { secret } = chance.pick([...sessions.values()]);
    const { keys } = await latchkey.listKeys({ limit: 100 });
    const { id: keyId = "key_none" } = keys[chance.below(keys.length)] ?? {};
    // Each call in a process of its own, which knows nothing yet.
    const process = context.another({ store: beside });
    const session = await process.openPortalSession(secret);
    mayOvertake = true;
    if (session !== null) await orGone(chance.pick(OWN_ACTS)(session, keyId, apiId));
    mayOvertake = false;
  }
  return violations(await allEvents(latchkey), sessions);
}

describeOnEveryStore("portal sessions beside the host", (open, runs) => {
  test("no session changes anything that is not its customer's, or after its end, whatever the host does meanwhile", async () => {
    const nextWorkspace = workspacesOf(open());
    const last = SEED + runs(80);
    for (let seed = SEED; seed < last; seed += 1)
      expect(await raceInSessions(nextWorkspace(), seed), `seed ${seed}`).toEqual([]);
  });
});
