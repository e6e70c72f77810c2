import {
  type InputOf,
  type KeyStore,
  type KeysReference,
  type Latchkey,
  LatchkeyError,
} from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf, seedsOf } from "./chance.js";
import { DAMAGES } from "./damage.js";
import { describeOnEveryStore } from "./every-store.js";
import {
  DAY_MS,
  describeOnMemory,
  NOON,
  type OpenContext,
  rejectionOf,
  type TestContext,
} from "./test-context.js";
import { overtaken, wrapped } from "./wrapped-store.js";

const OWNERS = ["pier-7", "pier-8"] as const;

/** A key in the model. */
interface Known {
  readonly keyId: string;
  readonly key: string;
  readonly apiId: string;
  readonly owner: string | undefined;
  /** The key it was rotated from. */
  readonly from?: Known;
  /** Whether it existed when the call started. */
  readonly isEarly: boolean;
  readonly isDamaged?: boolean;
}

/** Keys of two APIs, of two owners and without an owner: enabled, disabled, expired, used up, rotated, damaged. */
async function makeKeys(context: TestContext, chance: Chance, apiIds: readonly string[]) {
  const { latchkey, store } = context;
  const keys: Known[] = [];
  for (let at = 0; at < 34; at += 1) {
    const apiId = apiIds[at < 26 ? 0 : 1] ?? "";
    const owner = chance.pick([...OWNERS, OWNERS[0], ""]) || undefined;
    const settings: Partial<InputOf<"createKey">> = chance.pick([
      ...[{}, {}, {}, { enabled: false }, { remaining: 1 }, { remaining: 3 }],
      { expires: NOON + 1 },
    ]);
    const { key, keyId } = await latchkey.createKey({
      apiId,
      ...settings,
      ...(owner !== undefined && { externalId: owner }),
    });
    if (settings.remaining === 1) await latchkey.verifyKey({ key });
    const isDamaged = chance.below(12) === 0;
    if (isDamaged) await DAMAGES[0].damage(store, "key", keyId);
    const known: Known = { keyId, key, apiId, owner, isEarly: true, isDamaged };
    keys.push(known);
    if (!isDamaged && settings.expires === undefined && chance.below(6) === 0) {
      const graceMs = chance.pick([0, DAY_MS]);
      const next = await latchkey.rotateKey({ keyId, graceMs });
      keys.push({ ...next, apiId, owner, from: known, isEarly: true });
    }
  }
  context.advance(10);
  return keys;
}

/** A concurrent action of another process. New keys are added to `keys`. */
async function actBeside(latchkey: Latchkey, chance: Chance, keys: Known[]): Promise<void> {
  const one = chance.pick(keys);
  const { keyId, key, apiId, owner } = one;
  const named = owner === undefined ? {} : { externalId: owner };
  const actions: readonly (() => Promise<unknown>)[] = [
    async () => {
      const made = await latchkey.createKey({ apiId, ...named });
      keys.push({ ...made, apiId, owner, isEarly: false });
    },
    async () => {
      const next = await latchkey.rotateKey({ keyId, graceMs: DAY_MS });
      keys.push({ ...next, apiId, owner, from: one, isEarly: false });
    },
    () => latchkey.updateKey({ keyId, name: `n${chance.below(1_000)}` }),
    () => latchkey.verifyKey({ key }),
  ];
  try {
    await chance.pick(actions)();
  } catch (error) {
    // The key is deleted, damaged, rotated or expired by now.
    if (!(error instanceof LatchkeyError) || error.code === "STORE_UNAVAILABLE") throw error;
  }
}

/** A store with concurrent actions before its commits, which fails from one call on, before or after executing it. */
function disturbed(
  store: KeyStore,
  chance: Chance,
  actBefore: () => Promise<void>,
  failsAt: number,
): KeyStore {
  let commits = 0;
  return wrapped(store, {
    commit: async (workspaceId, change) => {
      commits += 1;
      if (commits <= 12 && chance.below(2) === 0) await actBefore();
      if (commits < failsAt) return store.commit(workspaceId, change);
      if (chance.below(2) === 0) await store.commit(workspaceId, change);
      throw new LatchkeyError("STORE_UNAVAILABLE", "killed", { outcome: "unknown" });
    },
  });
}

/** Repeats a call until it resolves. A killed call is continued. */
async function callUntilDone<Answer>(
  context: TestContext,
  chance: Chance,
  keys: Known[],
  call: (latchkey: Latchkey) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly kills: number }> {
  const beside = context.another();
  const kills = chance.below(3);
  for (let killed = 0; killed < kills; killed += 1) {
    const act = () => actBeside(beside, chance, keys);
    const store = disturbed(context.store, chance, act, 1 + chance.below(4));
    const outcome = await call(context.another({ store })).then(
      (answer) => ({ answer }),
      (error: unknown) => error,
    );
    // The call completed before it could be killed.
    if (!(outcome instanceof Error)) return { ...(outcome as { answer: Answer }), kills: killed };
    expect(outcome).toMatchObject({ code: "STORE_UNAVAILABLE" });
  }
  const act = () => actBeside(beside, chance, keys);
  const store = disturbed(context.store, chance, act, Number.POSITIVE_INFINITY);
  return { answer: await call(context.another({ store })), kills };
}

const codeOf = (latchkey: Latchkey, { key }: Known) =>
  latchkey.verifyKey({ key, remaining: { cost: 0 } }).then(
    ({ code }) => code,
    (error: LatchkeyError) => error.code,
  );

async function codesOf(latchkey: Latchkey, keys: readonly Known[]) {
  return new Map(
    await Promise.all(
      keys.map(async (each) => [each.keyId, await codeOf(latchkey, each)] as const),
    ),
  );
}

/** The keys that a call refers to, including those rotated from them. */
function meant(keys: readonly Known[], { apiId, externalId, keyIds }: KeysReference): Known[] {
  const isNamed = (each: Known) =>
    keyIds === undefined
      ? (apiId ?? each.apiId) === each.apiId && (externalId ?? each.owner) === each.owner
      : keyIds.includes(each.keyId);
  const isMeant = (each: Known): boolean =>
    each.isEarly
      ? isNamed(each)
      : keyIds === undefined && each.from !== undefined && isMeant(each.from);
  return keys.filter(isMeant);
}

function referenceOf(chance: Chance, apiIds: readonly string[], keys: readonly Known[]) {
  const [apiId = ""] = apiIds;
  const [externalId] = OWNERS;
  const some = keys.filter(() => chance.below(2) === 0).map(({ keyId }) => keyId);
  const choices: KeysReference[] = [{ apiId }, { externalId }, { apiId, externalId }];
  return chance.pick([...choices, { keyIds: [...some, "key_unknown", ...some.slice(0, 2)] }]);
}

async function openKeys(open: OpenContext, seed: number) {
  const context = open();
  const chance = chanceOf(seed);
  const apiIds: string[] = [];
  for (const name of ["tide tables", "harbour gates"])
    apiIds.push((await context.latchkey.createApi({ name })).apiId);
  return { context, chance, apiIds, keys: await makeKeys(context, chance, apiIds) };
}

describeOnEveryStore("many keys at once", (open, runs) => {
  test.each(seedsOf(runs(8)))(
    "B1: no key that was there and meant verifies, whatever is done beside it and however often it is killed: seed %i",
    async (seed) => {
      const { context, chance, apiIds, keys } = await openKeys(open, seed);
      const verb = chance.pick(["deleteKeys", "disableKeys"] as const);
      const which = referenceOf(chance, apiIds, keys);
      const warm = context.another();
      const before = await codesOf(warm, keys);
      const { answer, kills } = await callUntilDone<object>(context, chance, keys, (latchkey) =>
        latchkey[verb](which),
      );
      const named = new Set(meant(keys, which));
      for (const latchkey of [warm, context.another()]) {
        const after = await codesOf(latchkey, keys);
        for (const each of keys) {
          const { keyId, isDamaged = false, isEarly } = each;
          const code = after.get(keyId);
          if (named.has(each) && verb === "deleteKeys")
            expect([keyId, code]).toEqual([keyId, "NOT_FOUND"]);
          else if (named.has(each))
            expect([keyId, code]).toEqual([keyId, isDamaged ? "STORE_CORRUPT" : "DISABLED"]);
          else if (isEarly && keys.every(({ from }) => from !== each))
            expect([keyId, code]).toEqual([keyId, before.get(keyId)]);
        }
        if (verb === "deleteKeys" && kills === 0) {
          const gone = keys.filter(({ keyId }) => after.get(keyId) === "NOT_FOUND");
          expect(answer).toEqual({ deletedKeys: gone.length });
        }
      }
    },
  );

  test.each(seedsOf(runs(8)))(
    "B1: each key that was meant verifies once it is enabled, unless it has expired or is used up: seed %i",
    async (seed) => {
      const { context, chance, apiIds, keys } = await openKeys(open, 100 + seed);
      const warm = context.another();
      await warm.disableKeys({ apiId: apiIds[0] ?? "" });
      await codesOf(warm, keys);
      const which = referenceOf(chance, apiIds, keys);
      await callUntilDone(context, chance, keys, (latchkey) => latchkey.enableKeys(which));
      const after = await codesOf(warm, keys);
      const views = await Promise.all(
        keys.map(({ keyId }) => context.latchkey.getKey({ keyId }).catch(() => null)),
      );
      for (const each of meant(keys, which)) {
        const view = views[keys.indexOf(each)] ?? null;
        const isOver = view?.expires !== undefined && view.expires <= context.now();
        const usable = view?.remaining === 0 ? "USAGE_EXCEEDED" : "VALID";
        const wanted = view === null ? "STORE_CORRUPT" : isOver ? "EXPIRED" : usable;
        expect([each.keyId, after.get(each.keyId)]).toEqual([each.keyId, wanted]);
      }
    },
  );

  test.each(seedsOf(runs(8)))(
    "B1: when an identity is deleted with its keys, none stays without an owner and enabled: seed %i",
    async (seed) => {
      const { context, chance, keys } = await openKeys(open, 200 + seed);
      const { latchkey } = context;
      const [externalId] = OWNERS;
      const { id: identityId } = await latchkey.getIdentity({ externalId });
      const keysAre = chance.pick(["delete", "disable"] as const);
      await codesOf(latchkey, keys);
      await callUntilDone(context, chance, keys, async (each) => {
        try {
          return await each.deleteIdentity({ identityId, keys: keysAre });
        } catch (error) {
          // The previous call was killed after its last step.
          if ((error as LatchkeyError).code === "NOT_FOUND") return null;
          throw error;
        }
      });
      expect(await rejectionOf(latchkey.getIdentity({ identityId }))).toMatchObject({
        code: "NOT_FOUND",
      });
      for (const each of keys.filter(({ owner }) => owner === externalId)) {
        const code = await codeOf(latchkey, each);
        const view = await latchkey.getKey({ keyId: each.keyId }).catch(() => null);
        const isOwned = view?.identity?.externalId === externalId;
        const gone = keysAre === "delete" ? ["NOT_FOUND"] : ["DISABLED", "STORE_CORRUPT"];
        if (!isOwned) expect(gone).toContain(code);
        if (each.isEarly) expect(isOwned).toBe(false);
        if (isOwned) expect(view?.identity?.id).not.toBe(identityId);
      }
    },
  );
});

/** What happens to a key after it was rotated, so that its record leads nowhere. */
const LOSSES: readonly (readonly [
  string,
  (context: TestContext, keyId: string) => Promise<unknown>,
])[] = [
  ["damaged", ({ store }, keyId) => DAMAGES[0].damage(store, "key", keyId)],
  ["deleted", ({ latchkey }, keyId) => latchkey.deleteKey({ keyId })],
];

const REVOCATIONS = [
  ["disableKeys", "DISABLED"],
  ["deleteKeys", "NOT_FOUND"],
] as const;

describeOnEveryStore("many keys at once, one of which is rotated meanwhile and then", (open) => {
  test.each(
    LOSSES.flatMap(([name, lose]) =>
      REVOCATIONS.flatMap(([act, code]) =>
        [1, 2].map((rotations) => ({ name, act, rotations, lose, code })),
      ),
    ),
  )("$name: $act reaches its successor after $rotations rotations", async (tested) => {
    const { act, rotations, lose, code } = tested;
    const context = await open();
    const { latchkey, store } = context;
    const { apiId } = await latchkey.createApi({ name: "tides" });
    const first = await latchkey.createKey({ apiId, externalId: OWNERS[0] });
    const made = [first];
    const rotate = async () => {
      for (let done = 0; done < rotations; done += 1) {
        context.advance(5);
        const { keyId } = made.at(-1) ?? first;
        made.push(await latchkey.rotateKey({ keyId, graceMs: DAY_MS }));
        await lose(context, keyId);
      }
    };
    await context.another({ store: overtaken(store, rotate) })[act]({ externalId: OWNERS[0] });
    expect(made).toHaveLength(1 + rotations);
    const { key } = made.at(-1) ?? first;
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code });
  });
});

describeOnMemory("many keys at once, of which the input", (open) => {
  test.each([
    ["externalId", ["apiId"]],
    ["identityId", ["apiId"]],
    ["apiId", ["externalId"]],
    ["keyIds", ["apiId"]],
    ["apiId", []],
  ] as const)(
    "%s is undefined next to %j: refused, because the call would otherwise refer to more keys",
    async (absent, beside) => {
      const { context, keys, apiIds } = await openKeys(open, 300);
      const given = { apiId: apiIds[0] ?? "", externalId: OWNERS[0] };
      const which = Object.fromEntries(beside.map((name) => [name, given[name]]));
      const before = await codesOf(context.another(), keys);
      for (const act of ["deleteKeys", "disableKeys", "enableKeys"] as const)
        expect(
          await rejectionOf(context.latchkey[act]({ ...which, [absent]: undefined })),
        ).toMatchObject({ code: "BAD_REQUEST", message: expect.stringContaining(absent) });
      expect(await codesOf(context.another(), keys)).toEqual(before);
    },
  );
});
