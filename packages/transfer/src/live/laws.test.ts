import { createLatchkey, type KeyStore, type Latchkey, LatchkeyError } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { copy } from "../copy.js";
import { storeParts, workspacesOf } from "../passes/source.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20260615);
const RUNS = 12 * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1");

const NOON = Date.UTC(2030, 0, 15, 12);
const DAY_MS = 86_400_000;
const RING = { current: "v1", keys: { v1: Uint8Array.from({ length: 32 }, (_, index) => index) } };

/** Random draws from a seed. @see https://prng.di.unimi.it/splitmix64.c, with the constants of its 32-bit variant. */
function drawsOf(seed: number) {
  let state = seed;
  return (end: number): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return Math.floor((((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32) * end);
  };
}

/** What servers do on the source while it is followed. Each act may meet records that are gone. */
function actsOn(server: () => Latchkey, below: (end: number) => number, apiIds: string[]) {
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const keys: { readonly keyId: string; readonly key: string }[] = [];
  const [sessions, reservations]: [string[], string[]] = [[], []];
  const user = () => `acct_${below(4)}`;
  let count = 0;
  const once = () => {
    count += 1;
    return `once-${count}`;
  };
  const settings = () => ({
    apiId: pick(apiIds),
    externalId: user(),
    remaining: 20,
    recoverable: below(2) === 0,
    expires: NOON + DAY_MS * (1 + below(9)),
    tags: [`tag-${below(3)}`],
  });
  const create = async () => {
    const { keyId, key } = await server().createKey({ ...settings(), idempotencyKey: once() });
    if (key !== undefined) keys.push({ keyId, key });
  };
  const acts: readonly (() => Promise<unknown>)[] = [
    create,
    () => server().verifyKey({ key: pick(keys).key }),
    () => {
      const keyIds = [pick(keys).keyId, pick(keys).keyId];
      return server().updateKeys({ keyIds, tags: [`tag-${below(5)}`], expires: NOON + 2 * DAY_MS });
    },
    async () => {
      keys.push(await server().rotateKey({ keyId: pick(keys).keyId, graceMs: 5_000 }));
    },
    () => server().deleteKey({ keyId: pick(keys).keyId }),
    () => server().actingAs(user()).eraseIdentity({ externalId: user() }),
    async () => {
      const { id } = await server().getIdentity({ externalId: user() });
      const how = pick(["unlink", "disable", "delete"] as const);
      return server().deleteIdentity({ identityId: id, keys: how });
    },
    () => server().updateIdentity({ externalId: user(), remaining: below(20), meta: { count } }),
    async () => {
      const allow = { apiIds: [pick(apiIds)], create: true };
      sessions.push((await server().createPortalSession({ externalId: user(), allow })).secret);
    },
    async () => {
      const session = await server().openPortalSession(pick([...sessions, "none"]));
      const made = await session?.createMyKey({ idempotencyKey: once() });
      if (made?.key !== undefined) keys.push(made);
    },
    () => server().revokePortalSession({ externalId: user() }),
    () => server().notice(),
    () => server().pruneAuditEvents({ before: server().now() }),
    () => {
      const policy = pick(["disable", "delete", "rotate", "report"] as const);
      const leaks = [{ key: pick(keys).key, url: `https://code.example/${below(2)}` }];
      return server().reportLeaks({ leaks, policy });
    },
    () => server().ensureRole({ name: `role_${below(2)}`, permissions: pick([["a"], ["b"], []]) }),
    async () => {
      apiIds.push((await server().ensureApi({ name: `charts ${below(3)}` })).apiId);
    },
    async () => {
      if (apiIds.length > 2) await server().deleteApi({ apiId: apiIds.pop() ?? "" });
    },
    async () => {
      for (const enabled of [false, true]) await server().setWorkspaceEnabled(enabled);
    },
    () => server().updateWorkspace({ name: once() }),
    async () => {
      const { rootKeyId } = await server().createRootKey({ permissions: ["*"] });
      const next = await server().rotateRootKey({ rootKeyId });
      if (below(2) === 0) await server().revokeRootKey({ rootKeyId: next.rootKeyId });
    },
    async () => {
      const verdict = await server().reserve({ key: pick(keys).key, remaining: { cost: 2 } });
      if (verdict.code === "VALID") reservations.push(verdict.reservationId);
    },
    () => {
      const reservationId = pick([...reservations, "rsv_none"]);
      return server().settle({ reservationId, remaining: { cost: below(3) } });
    },
    () => server().limit({ identifier: `i${below(3)}`, limit: 4, duration: 60_000 }),
  ];
  return { create, act: () => pick(acts)() };
}

/** Every record and window of a store, without statistics: what is counted behind the fence stays on the source. */
async function everythingIn(store: KeyStore): Promise<readonly string[]> {
  const texts: string[] = [];
  const add = (value: object) => {
    texts.push(
      JSON.stringify(value, (_, member) => (member instanceof Map ? [...member].sort() : member)),
    );
  };
  for await (const part of storeParts(store, await workspacesOf(store))) {
    if (part.kind === "records")
      for (const { sums: _, usedAt: __, ...record } of part.records) add(record);
    else if (part.kind !== "statistics") add(part);
  }
  return texts.sort();
}

async function copyBesideServers(store: KeyStore, to: KeyStore, seed: number): Promise<number> {
  const below = drawsOf(seed);
  let now = NOON;
  const clock = () => now;
  const create = () => createLatchkey({ store, clock, vault: RING, usage: { flushMs: 3_600_000 } });
  const servers = [create(), create()] as const;
  const server = () => servers[below(2)] as Latchkey;
  const apiIds: string[] = [];
  for (const name of ["tiles", "charts", "gates"])
    apiIds.push((await server().createApi({ name })).apiId);
  await server().ensurePermissions(["a"]);
  const acts = actsOn(server, below, apiIds);
  for (let made = 0; made < 8; made += 1) await acts.create();
  let [isBusy, hasMoved, acted] = [false, false, 0];
  const overtake = async () => {
    if (isBusy || hasMoved || below(2) > 0) return;
    isBusy = true;
    now += below(1_000);
    try {
      await acts.act();
      acted += 1;
    } catch (error) {
      if (!(error instanceof LatchkeyError)) throw error;
      hasMoved = error.reason === "moved";
      if (!hasMoved && error.code === "STORE_UNAVAILABLE") throw error;
    } finally {
      isBusy = false;
    }
  };
  const from: KeyStore = {
    ...store,
    read: (...given) => overtake().then(() => store.read(...given)),
    page: (...given) => overtake().then(() => store.page(...given)),
    commit: (...given) => overtake().then(() => store.commit(...given)),
  };
  await copy(from, to, { live: true });
  expect(await everythingIn(to), `seed ${seed}`).toEqual(await everythingIn(store));
  return acted;
}

test.each([
  ["memory to SQLite", () => memoryStore(), () => sqliteStore(":memory:")],
  ["SQLite to memory", () => sqliteStore(":memory:"), () => memoryStore()],
] as const)(
  "a live copy from %s is complete, whatever servers do between any two of its calls",
  async (_, from, to) => {
    let acted = 0;
    for (let seed = SEED; seed < SEED + RUNS; seed += 1) {
      const [source, target] = [from(), to()];
      onTestFinished(async () => {
        await Promise.all([source.close(), target.close()]);
      });
      acted += await copyBesideServers(source, target, seed);
    }
    expect(acted).toBeGreaterThan(10 * RUNS);
  },
);
