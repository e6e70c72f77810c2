import { LatchkeyError, type PortalSession } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { type TestContext, workspacesOf } from "./test-context.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20260611);

const USERS = ["pier-7", "pier-9"] as const;
const MINUTE_MS = 60_000;
const [ALLOWED, BEYOND] = ["tides.read", "tides.admin"] as const;

/** A key as the model knows it. */
interface ModelKey {
  readonly id: string;
  readonly apiId: string;
  readonly permission: string | null;
  /** Id of its identity. */
  owner: string | null;
  name: string | null;
  expires: number | null;
  rotatedTo: string | null;
}

/** A session as the model knows it. It may have been opened before it ended. */
interface ModelSession {
  readonly sessionId: string;
  readonly secret: string;
  readonly owner: string;
  readonly expires: number;
  readonly apiIds: readonly string[];
  readonly allow: Readonly<Record<"create" | "rotate" | "revoke", boolean>>;
  readonly maxKeys: number;
  readonly opened: PortalSession;
  isRevoked: boolean;
}

/** What is there, by the plainest rules. */
class Model {
  readonly identities = new Map<string, string>();
  readonly apis = new Set<string>();
  readonly keys = new Map<string, ModelKey>();
  readonly sessions: ModelSession[] = [];

  isOpen({ isRevoked, expires, owner }: ModelSession, now: number): boolean {
    return !isRevoked && now < expires && [...this.identities.values()].includes(owner);
  }

  isOwn({ owner, apiIds }: ModelSession, key: ModelKey | undefined): key is ModelKey {
    return key?.owner === owner && apiIds.includes(key.apiId);
  }

  /** The keys of a session, the earliest first. */
  own(session: ModelSession, apiId?: string): readonly ModelKey[] {
    const all = [...this.keys.values()].filter((key) => this.isOwn(session, key));
    return all.filter((key) => apiId === undefined || key.apiId === apiId);
  }

  dropWhere(isGone: (key: ModelKey) => boolean): void {
    for (const key of [...this.keys.values()]) if (isGone(key)) this.keys.delete(key.id);
  }
}

/** One run: a latchkey in two processes, and the model. */
interface Run {
  readonly context: TestContext;
  readonly chance: Chance;
  readonly model: Model;
}

const isOver = (at: number | null, now: number) => at !== null && at <= now;

/** The code of a refusal; null for a call that succeeded. */
async function codeOf(call: Promise<unknown>): Promise<string | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (error instanceof LatchkeyError && error.code !== "STORE_UNAVAILABLE") return error.code;
    throw error;
  }
}

/** What the host does: each act changes the store and the model alike. */
const HOST_ACTS: readonly (({ context, chance, model }: Run) => Promise<void>)[] = [
  async ({ context, chance, model }) => {
    const externalId = chance.pick(USERS);
    const apiIds = [...model.apis].filter(() => chance.below(3) > 0);
    if (apiIds.length === 0) return;
    const flag = () => chance.below(4) > 0;
    const allow = { create: flag(), rotate: flag(), revoke: flag() };
    const maxKeys = chance.pick([Number.POSITIVE_INFINITY, 1, 3]);
    const permissions = [ALLOWED];
    const made = await context.latchkey.createPortalSession({
      externalId,
      ttl: MINUTE_MS * (1 + chance.below(30)),
      allow: { apiIds, permissions, ...allow, ...(Number.isFinite(maxKeys) && { maxKeys }) },
    });
    const opened = await context.latchkey.openPortalSession(made.secret);
    if (opened === null) throw new TypeError("a new session is over");
    const owner = model.identities.get(externalId) ?? opened.identityId;
    expect(opened.identityId).toBe(owner);
    model.identities.set(externalId, owner);
    model.sessions.push({ ...made, owner, apiIds, allow, maxKeys, opened, isRevoked: false });
  },
  async ({ context, chance, model }) => {
    const [apiId] = [...model.apis].filter(() => chance.below(2) > 0);
    const externalId = chance.pick([...USERS, null]);
    if (apiId === undefined) return;
    const permission = chance.pick([null, ALLOWED, BEYOND]);
    const expires = chance.pick([null, context.now() + MINUTE_MS * (1 + chance.below(20))]);
    const { keyId } = await context.latchkey.createKey({
      apiId,
      ...(externalId !== null && { externalId }),
      ...(permission !== null && { permissions: [permission] }),
      ...(expires !== null && { expires }),
    });
    const { identity } = await context.latchkey.getKey({ keyId });
    if (externalId !== null && identity) model.identities.set(externalId, identity.id);
    const owner = identity?.id ?? null;
    const key = { id: keyId, apiId, permission, owner, name: null, expires, rotatedTo: null };
    model.keys.set(keyId, key);
  },
  async ({ context, chance, model }) => {
    const key = pickKey(chance, model);
    if (key === null) return;
    const externalId = chance.pick([...USERS, null]);
    await context.latchkey.updateKey({ keyId: key.id, externalId });
    const { identity } = await context.latchkey.getKey({ keyId: key.id });
    if (externalId !== null && identity) model.identities.set(externalId, identity.id);
    key.owner = identity?.id ?? null;
  },
  async ({ context, chance, model }) => {
    const key = pickKey(chance, model);
    if (key === null || chance.below(2) > 0) return;
    await context.latchkey.deleteKey({ keyId: key.id });
    model.keys.delete(key.id);
  },
  async ({ context, chance, model }) => {
    const [apiId = ""] = [...model.apis];
    if (model.apis.size < 2 || chance.below(4) > 0) return;
    await context.latchkey.deleteApi({ apiId });
    model.apis.delete(apiId);
    model.dropWhere((key) => key.apiId === apiId);
  },
  async ({ context, chance, model }) => {
    const externalId = chance.pick(USERS);
    const identityId = model.identities.get(externalId);
    if (identityId === undefined || chance.below(3) > 0) return;
    const keys = chance.pick(["unlink", "disable", "delete", "erase"] as const);
    if (keys === "erase") await context.latchkey.eraseIdentity({ externalId });
    else await context.latchkey.deleteIdentity({ identityId, keys });
    model.identities.delete(externalId);
    // Erasing reaches the keys of earlier identities of the same name, which have no owner any more.
    if (keys === "erase") {
      const left = new Set<string>();
      for await (const { id } of context.latchkey.keysOf()) left.add(id);
      model.dropWhere((key) => key.owner === null && !left.has(key.id));
    }
    if (keys === "delete" || keys === "erase") model.dropWhere((key) => key.owner === identityId);
    for (const key of model.keys.values()) if (key.owner === identityId) key.owner = null;
  },
  async ({ context, chance, model }) => {
    const session = model.sessions[chance.below(model.sessions.length)];
    if (session === undefined || chance.below(2) > 0) return;
    const { sessionId, owner } = session;
    const byIdentity = chance.below(2) > 0;
    await codeOf(
      context.latchkey.revokePortalSession(byIdentity ? { identityId: owner } : { sessionId }),
    );
    for (const other of model.sessions)
      if (other === session || (byIdentity && other.owner === owner)) other.isRevoked = true;
  },
  async ({ context, chance }) => context.advance(chance.below(2 * MINUTE_MS)),
];

function pickKey(chance: Chance, { keys }: Model): ModelKey | null {
  return [...keys.values()][chance.below(keys.size)] ?? null;
}

/** What a customer does in a session: the act, and the codes that the model expects; null: it succeeds. */
const OWN_ACTS: readonly ((run: Run, session: ModelSession) => Promise<void>)[] = [
  async ({ context, chance, model }, session) => {
    const apiId = chance.pick([...session.apiIds, ...model.apis]);
    const call = session.opened.listMyKeys({ apiId });
    const isThere = session.apiIds.includes(apiId) && model.apis.has(apiId);
    if (!model.isOpen(session, context.now()) || !isThere)
      expect(await codeOf(call)).toMatch(/^(UNAUTHORIZED|NOT_FOUND)$/);
    else {
      const { keys } = await call;
      const wanted = model.own(session, apiId);
      expect(keys.map(({ id }) => id).sort()).toEqual(wanted.map(({ id }) => id).sort());
      for (const { id, name = null } of keys) expect(name).toBe(model.keys.get(id)?.name);
    }
  },
  async ({ context, chance, model }, session) => {
    const apiId = chance.pick([...session.apiIds, ...model.apis]);
    const permission = chance.pick([ALLOWED, ALLOWED, BEYOND]);
    const name = `boat ${chance.below(100)}`;
    const call = session.opened.createMyKey({ apiId, name, permissions: [permission] });
    const places = model.own(session).filter(({ rotatedTo }) => rotatedTo === null).length;
    const isRefused =
      !model.isOpen(session, context.now()) ||
      !session.allow.create ||
      permission === BEYOND ||
      !session.apiIds.includes(apiId) ||
      !model.apis.has(apiId) ||
      places >= session.maxKeys;
    if (isRefused) return expect(await codeOf(call)).not.toBeNull();
    const { keyId: id } = await call;
    const { owner } = session;
    model.keys.set(id, { id, apiId, permission, owner, name, expires: null, rotatedTo: null });
  },
  async ({ context, chance, model }, session) => {
    const key = pickKey(chance, model);
    if (key === null) return;
    const name = `ship ${chance.below(100)}`;
    const code = await codeOf(session.opened.renameMyKey({ keyId: key.id, name }));
    if (!model.isOpen(session, context.now()) || !session.allow.create)
      return expect(code).not.toBeNull();
    expect(code).toBe(model.isOwn(session, key) ? null : "NOT_FOUND");
    if (code === null) key.name = name;
  },
  async ({ context, chance, model }, session) => {
    const key = pickKey(chance, model);
    if (key === null) return;
    const code = await codeOf(session.opened.revokeMyKey({ keyId: key.id }));
    if (!model.isOpen(session, context.now()) || !session.allow.revoke)
      return expect(code).not.toBeNull();
    expect(code).toBe(model.isOwn(session, key) ? null : "NOT_FOUND");
    if (code === null) model.keys.delete(key.id);
  },
  async ({ context, chance, model }, session) => {
    const key = pickKey(chance, model);
    if (key === null) return;
    const graceMs = chance.pick([0, MINUTE_MS]);
    const now = context.now();
    const call = session.opened.rotateMyKey({ keyId: key.id, graceMs });
    const rotated = model.own(session).filter(({ rotatedTo }) => rotatedTo !== null);
    const dead = rotated.filter(({ expires }) => isOver(expires, now));
    const most = session.maxKeys;
    const isRefused =
      !model.isOpen(session, now) ||
      !session.allow.rotate ||
      !model.isOwn(session, key) ||
      key.permission === BEYOND ||
      key.rotatedTo !== null ||
      isOver(key.expires, now) ||
      (graceMs > 0 && rotated.length - dead.length >= most);
    if (isRefused) return expect(await codeOf(call)).not.toBeNull();
    const { keyId: id } = await call;
    model.keys.set(id, { ...key, id });
    key.rotatedTo = id;
    key.expires = Math.min(key.expires ?? Number.POSITIVE_INFINITY, now + graceMs);
    const over = dead.length + (graceMs === 0 ? 1 : 0) - most;
    const oldest = dead.map((one) => one.id).sort();
    for (const one of oldest.slice(0, Math.max(0, over))) model.keys.delete(one);
  },
  async ({ context, chance, model }, session) => {
    const key = pickKey(chance, model);
    if (key === null) return;
    const code = await codeOf(session.opened.usageOfMyKey({ keyId: key.id, days: 2 }));
    if (!model.isOpen(session, context.now())) return expect(code).not.toBeNull();
    expect(code).toBe(model.isOwn(session, key) ? null : "NOT_FOUND");
  },
  async ({ context, model }, session) => {
    const found = await context.another({ store: context.store }).openPortalSession(session.secret);
    expect(found?.sessionId ?? null).toBe(
      model.isOpen(session, context.now()) ? session.sessionId : null,
    );
  },
];

async function setUp(context: TestContext) {
  const { latchkey } = context;
  await latchkey.ensurePermissions([ALLOWED, BEYOND]);
  const model = new Model();
  for (const name of ["tide tables", "charts", "gates"])
    model.apis.add((await latchkey.createApi({ name })).apiId);
  return model;
}

async function expectAsModel(context: TestContext, seed: number, steps: number): Promise<void> {
  const model = await setUp(context);
  const run: Run = { context, chance: chanceOf(seed), model };
  const { chance } = run;
  for (let step = 0; step < steps; step += 1) {
    const session = model.sessions[chance.below(model.sessions.length)];
    if (session === undefined || chance.below(4) === 0) await chance.pick(HOST_ACTS)(run);
    else await chance.pick(OWN_ACTS)(run, session);
  }
}

describeOnEveryStore("portal sessions", (open, runs) => {
  test("every call in a session does exactly what a plain model says, whatever the host does in between", async () => {
    const nextWorkspace = workspacesOf(open());
    const last = SEED + runs(16);
    for (let seed = SEED; seed < last; seed += 1)
      await expectAsModel(nextWorkspace(), seed, 200).catch((error: Error) => {
        throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
      });
  });
});
