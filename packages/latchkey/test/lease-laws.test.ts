import { type KeyStore, type Latchkey, leaseTimesOf, STATE_ADDRESS } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { issue, rejectionOf, type TestContext } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const LEASE_MS = 60;
const SEEDS = [1, 2];
const CHANGES = 8;

/** The state of a key after a sequence of changes. */
interface State {
  readonly enabled: boolean;
  readonly permitted: boolean;
  readonly rotated: boolean;
  readonly deleted: boolean;
  readonly workspaceEnabled: boolean;
}

const FIRST: State = {
  enabled: true,
  permitted: true,
  rotated: false,
  deleted: false,
  workspaceEnabled: true,
};

function verdictOn(state: State): string {
  if (!state.workspaceEnabled) return "FORBIDDEN";
  if (state.deleted) return "NOT_FOUND";
  if (!state.enabled) return "DISABLED";
  if (state.rotated) return "EXPIRED";
  return state.permitted ? "VALID" : "INSUFFICIENT_PERMISSIONS";
}

/** Changes, each with its effect on the state. If one is impossible in a state, another is drawn. */
const ALL: readonly ((
  state: State,
  ids: Ids,
) => [State, (by: Latchkey) => Promise<unknown>] | null)[] = [
  (state, { keyId }) => [
    { ...state, enabled: !state.enabled },
    (by) => by.updateKey({ keyId, enabled: !state.enabled }),
  ],
  (state, { apiId }) => [
    { ...state, enabled: false },
    (by) => by.disableKeys({ apiId, externalId: "northwind" }),
  ],
  (state, { keyId }) => [
    { ...state, permitted: !state.permitted },
    (by) => by.setRoles({ keyId, roles: state.permitted ? [] : [{ name: "reader" }] }),
  ],
  (state) => [
    { ...state, workspaceEnabled: !state.workspaceEnabled },
    (by) => by.setWorkspaceEnabled(!state.workspaceEnabled),
  ],
  (state, { keyId }) =>
    state.rotated || !state.enabled
      ? null
      : [{ ...state, rotated: true }, (by) => by.rotateKey({ keyId })],
  (state, { keyId }) => [
    { ...state, deleted: true },
    (by) => by.deleteKey({ keyId }).catch(passOverNotFound),
  ],
];

interface Ids {
  readonly keyId: string;
  readonly apiId: string;
}

function passOverNotFound(error: unknown): void {
  if ((error as { readonly code?: string }).code !== "NOT_FOUND") throw error;
}

describeOnEveryStore("leases", (open) => {
  test.each(SEEDS)(
    "E2: what has resolved is contradicted by no verification that starts later, from any process (seed %i)",
    async (seed) => {
      const chance = chanceOf(seed);
      let leased = 0;
      const leases = { ms: LEASE_MS };
      const onEvent = (event: { readonly type: string }) => {
        if ("leased" in event) leased += 1;
      };
      const context = open({ leases, onEvent });
      const processes = [
        context.latchkey,
        context.another(),
        context.another({ leases: { ms: LEASE_MS / 2 } }),
      ];
      const plain = createPlain(context);
      for (let key = 0; key < 2; key += 1)
        await checkOneKey(chance, [...processes, plain], () => leased);
    },
  );

  test("E6: when leases have ended, every verification asks the store, and no change waits", async () => {
    const context = open({ leases: { ms: 200 } });
    const { latchkey, store } = context;
    const { key, keyId } = await issue(context);
    await untilLeased(latchkey, key, store);
    await latchkey.endLeases();
    expect(await leaseTimes(store)).toEqual({ grant: 0, wait: 0 });
    await latchkey.verifyKey({ key });
    const other = createPlain(context);
    await other.updateKey({ keyId, enabled: false });
    expect((await latchkey.verifyKey({ key })).code).toBe("DISABLED");
    await latchkey.endLeases();
    // Leasing does not start again by itself.
    await latchkey.verifyKey({ key });
    expect(await leaseTimes(store)).toEqual({ grant: 0, wait: 0 });
  });

  test("E2: a deletion does not resolve before a concurrent deletion of the same record may", async () => {
    const context = open({ leases: { ms: 150 } });
    const { latchkey, store } = context;
    const { key, keyId } = await issue(context);
    await untilLeased(latchkey, key, store);
    const [one, other] = [createPlain(context), createPlain(context)];
    const deleting = one.deleteKey({ keyId });
    while ((await store.read("ws_default", [{ kind: "key", id: keyId }])).found[0] !== null);
    expect((await rejectionOf(other.deleteKey({ keyId }))).code).toBe("NOT_FOUND");
    expect((await latchkey.verifyKey({ key })).code).toBe("NOT_FOUND");
    await deleting;
  });

  test("a workspace that is deleted while a process starts to lease stays deleted", async () => {
    const context = open({ usage: false });
    const { store } = context;
    const { key } = await issue(context);
    const gone = { workspaceId: "ws_default", confirm: "ws_default" };
    let isVerified = false;
    let deleting: Promise<unknown> | null = null;
    const late = wrapped(store, {
      charge: async (...given) => {
        const result = await store.charge(...given);
        isVerified = true;
        return result;
      },
      // A process that starts to lease first reads the length of existing leases.
      read: async (...given) => {
        if (isVerified) deleting ??= context.another().deleteWorkspace(gone);
        await deleting;
        return store.read(...given);
      },
    });
    const latchkey = context.another({ store: late, leases: { ms: LEASE_MS } });
    expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
    await expect.poll(() => deleting).not.toBeNull();
    await deleting;
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS));
    expect(await leaseTimes(store)).toBeNull();
  });

  test("E4: where fewer than 100 are left, nothing is taken ahead: k uses are k admissions, and limits hold", async () => {
    const context = open({ leases: { ms: 2_000 } });
    const { latchkey, store } = context;
    const free = await issue(context);
    await untilLeased(latchkey, free.key, store);
    const { key } = await latchkey.createKey({ apiId: free.apiId, remaining: 5 });
    const limited = await latchkey.createKey({
      apiId: free.apiId,
      ratelimit: { limit: 3, duration: "1h" },
    });
    const processes = [latchkey, context.another()];
    const verify = async (secret: string) => {
      const all = Array.from({ length: 10 }, (_, at) =>
        processes[at % 2]?.verifyKey({ key: secret }),
      );
      return (await Promise.all(all)).filter((verdict) => verdict?.valid).length;
    };
    expect([await verify(key), await verify(limited.key)]).toEqual([5, 3]);
  });
});

/** A latchkey without leases, on its own handle. */
function createPlain(context: TestContext): Latchkey {
  return context.another({ leases: undefined });
}

async function leaseTimes(store: KeyStore) {
  const { found } = await store.read("ws_default", [STATE_ADDRESS]);
  return leaseTimesOf(found[0] ?? null);
}

/** Verifies until the workspace reports leases, and once more to get one. */
async function untilLeased(latchkey: Latchkey, key: string, store: KeyStore): Promise<void> {
  while (((await leaseTimes(store))?.grant ?? 0) === 0) await latchkey.verifyKey({ key });
  for (let time = 0; time < 3; time += 1) await latchkey.verifyKey({ key });
}

/**
 * Keeps changing a key while every process verifies it without pause. Each verdict must match a state between the last change that had
 * resolved when the verification started, and the last one that had started when it ended.
 */
async function checkOneKey(
  chance: Chance,
  processes: readonly Latchkey[],
  countLeased: () => number,
): Promise<void> {
  const [first] = processes as readonly [Latchkey];
  await first.ensurePermissions(["docs.read"]);
  await first.ensureRole({ name: "reader", permissions: ["docs.read"] });
  const { apiId } = await first.createApi({ name: "tide tables" });
  const { key, keyId } = await first.createKey({
    apiId,
    externalId: "northwind",
    roles: ["reader"],
  });
  const states: State[] = [FIRST];
  let [begun, resolved] = [0, 0];
  let isOver = false;
  const verify = async (latchkey: Latchkey) => {
    while (!isOver) {
      const from = resolved;
      const input = { key, authorization: { permissions: "docs.read" } };
      const { code } = await latchkey.verifyKey(input);
      const possible = states.slice(from, begun + 1).map(verdictOn);
      expect(possible).toContain(code);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const verifying = Promise.all(processes.map(verify));
  const changing = async () => {
    // Waits for leases, without which nothing could be contradicted.
    const before = countLeased();
    while (countLeased() < before + 3) await new Promise((resolve) => setTimeout(resolve, 1));
    for (let count = 0; count < CHANGES; count += 1) {
      const change = chance.pick(ALL)(states.at(-1) as State, { keyId, apiId });
      if (change === null) continue;
      const [after, make] = change;
      states.push(after);
      begun += 1;
      // Two processes may make the same change at once: one of them may find nothing to do, and the first to resolve sets the expectation.
      const made = Array.from({ length: 1 + chance.below(2) }, () => make(chance.pick(processes)));
      await Promise.race(made);
      resolved = begun;
      await Promise.all(made);
      await new Promise((resolve) => setTimeout(resolve, chance.below(10)));
      if (after.deleted) break;
    }
    if (!(states.at(-1) as State).workspaceEnabled) await first.setWorkspaceEnabled(true);
  };
  try {
    await Promise.race([changing(), verifying]);
  } finally {
    isOver = true;
  }
  await verifying;
}
