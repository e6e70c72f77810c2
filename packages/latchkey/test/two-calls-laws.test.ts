import { type AuditEvent, interceptStore, type Latchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { chanceOf, seedsOf } from "./chance.js";
import { API_CASES } from "./change-cases/apis.js";
import {
  type ChangeCase,
  type ChangeFixture,
  makeChangeFixture,
  WITH_VAULT,
} from "./change-cases/fixture.js";
import { IDENTITY_CASES } from "./change-cases/identities.js";
import { KEY_GRANT_CASES } from "./change-cases/key-grants.js";
import { KEY_CASES } from "./change-cases/keys.js";
import { ROLE_CASES } from "./change-cases/roles.js";
import { WORKSPACE_CASES } from "./change-cases/workspaces.js";
import { describeOnEveryStore } from "./every-store.js";
import { type TestContext, workspacesOf } from "./test-context.js";
import { unclosed } from "./wrapped-store.js";

/** Operations that work in several steps, between which others may come. */
const IN_STEPS: ReadonlySet<string> = new Set([
  "deleteApi",
  "deleteKeys",
  "disableKeys",
  "enableKeys",
  "deleteIdentity",
  "eraseIdentity",
  "reencryptKeys",
  "createWorkspace",
  "notice",
  "pruneAuditEvents",
  "pruneVerifications",
]);

/** Cases that make several calls. */
const SEVERAL: ReadonlySet<string> = new Set([
  "updateKeys",
  "removeRoles",
  "removePermissions",
  "setWorkspaceEnabled",
]);

interface Place extends ChangeFixture {
  readonly reservationId: string;
}

/** A call to make in the middle of another. */
interface Call {
  readonly title: string;
  readonly run: (latchkey: Latchkey, place: Place) => Promise<unknown>;
}

/** Calls that count uses, and units of a limit. */
const COUNTING: readonly Call[] = [
  {
    title: "verifyKey",
    run: (latchkey, { key }) =>
      latchkey.verifyKey({
        key,
        remaining: { cost: 3 },
        authorization: { permissions: "tides.read" },
        ratelimits: [{ name: "reads", limit: 2, duration: 60_000 }],
      }),
  },
  {
    title: "verifyKey, of all uses",
    run: (latchkey, { key }) => latchkey.verifyKey({ key, remaining: { cost: 7 } }),
  },
  {
    title: "verifyKey, with a request id",
    run: (latchkey, { key }) =>
      latchkey.verifyKey({ key, requestId: "once", remaining: { cost: 4 } }),
  },
  {
    title: "reserve",
    run: (latchkey, { key }) =>
      latchkey.reserve({
        key,
        remaining: { cost: 6 },
        ratelimits: [{ name: "reads", limit: 2, duration: 60_000 }],
      }),
  },
  {
    title: "reserve, with a request id",
    run: (latchkey, { key }) =>
      latchkey.reserve({ key, requestId: "once", remaining: { cost: 6 } }),
  },
  {
    title: "settle",
    run: (latchkey, { reservationId }) =>
      latchkey.settle({ reservationId, remaining: { cost: 2 } }),
  },
  {
    title: "settle, for more than reserved",
    run: (latchkey, { reservationId }) =>
      latchkey.settle({ reservationId, remaining: { cost: 5 } }),
  },
  { title: "release", run: (latchkey, { reservationId }) => latchkey.release({ reservationId }) },
  {
    title: "renew",
    run: (latchkey, { reservationId }) => latchkey.renew({ reservationId, ttl: 7_000 }),
  },
  {
    title: "limit",
    run: (latchkey) => latchkey.limit({ identifier: "pier-7", limit: 1, duration: 60_000 }),
  },
];

/** The events that a change returns are for another test. */
const asCalls = (cases: readonly ChangeCase[]): readonly Call[] =>
  cases
    .filter(({ operation }) => !IN_STEPS.has(operation) && !SEVERAL.has(operation))
    .map(({ title, run }) => ({
      title,
      run: async (latchkey, place) => void (await run(latchkey, place)),
    }));

const GROUPS: readonly (readonly Call[])[] = [
  asCalls(API_CASES),
  asCalls([...KEY_CASES, ...KEY_GRANT_CASES]),
  asCalls(IDENTITY_CASES),
  asCalls(ROLE_CASES),
  asCalls(WORKSPACE_CASES),
  COUNTING,
];

/**
 * What an event says, except about uses: an entry tells which uses the change was based on, and verifications and other changes may have
 * moved them since.
 */
function withoutUses({ id: _, changes, ...event }: AuditEvent): readonly unknown[] {
  const others = changes.filter(({ field }) => field !== "remaining");
  return others.length === 0 && changes.length > 0 ? [] : [{ ...event, changes: others }];
}

/** Values as text, with the same names for the same things in every workspace. */
function asTexts(values: readonly unknown[], { workspaceId }: Latchkey, place: Place) {
  const known = new Map(Object.entries(place).map(([name, id]) => [id as string, name]));
  return values.map((value) =>
    (JSON.stringify(value, (name, part) => (name === "start" ? undefined : part)) ?? "nothing")
      .replaceAll(workspaceId, "the workspace")
      .replace(/\b[a-z]+_[A-Za-z0-9]{20,}/g, (id) => known.get(id) ?? "new"),
  );
}

/** Everything in a workspace. */
async function contentsOf(latchkey: Latchkey, place: Place): Promise<readonly string[]> {
  const { apis } = await latchkey.listApis();
  const keys = await Promise.all(apis.map(({ id: apiId }) => latchkey.listKeys({ apiId })));
  const { events } = await latchkey.readEvents();
  const all: readonly unknown[] = [
    ...apis,
    ...keys.flatMap((page) => page.keys),
    ...(await latchkey.listIdentities()).identities,
    ...(await latchkey.listPermissions()),
    ...(await latchkey.listRoles()),
    ...(await latchkey.listRootKeys()).rootKeys,
    ...events.flatMap(withoutUses),
  ];
  return [...asTexts(all, latchkey, place)].sort();
}

/** What a call returned, or the code of its error. */
async function outcomeOf({ run }: Call, latchkey: Latchkey, place: Place): Promise<string> {
  try {
    return asTexts([await run(latchkey, place)], latchkey, place).join();
  } catch (error) {
    if (error instanceof LatchkeyError) return error.code;
    throw error;
  }
}

/** How two calls are made. */
interface Schedule {
  /** Before how many store calls of the first the second is made as a whole. Infinite: after it. */
  readonly at: number;
  /** Whether the process of the first has verified the key before. */
  readonly isWarm: boolean;
}

/** Makes two calls in a new workspace. */
async function makeBoth(context: TestContext, first: Call, second: Call, { at, isWarm }: Schedule) {
  const fixture = await makeChangeFixture(context);
  const { key } = fixture;
  const reserved = await context.latchkey.reserve({ key, remaining: { cost: 3 } });
  const { reservationId } = reserved as { readonly reservationId: string };
  const place: Place = { ...fixture, reservationId };
  let left = Number.POSITIVE_INFINITY;
  let ofSecond: string | null = null;
  const makeSecond = async () => {
    ofSecond = await outcomeOf(second, context.another(), place);
  };
  const store = interceptStore(unclosed(context.store), async (_, call) => {
    if (left === 0) await makeSecond();
    left -= 1;
    return call();
  });
  const latchkey = context.another({ store });
  if (isWarm) await latchkey.verifyKey({ key, remaining: { cost: 0 } });
  if (at < 0) await makeSecond();
  left = at;
  const ofFirst = await outcomeOf(first, latchkey, place);
  if (ofSecond === null) await makeSecond();
  return { ofFirst, ofSecond, contents: await contentsOf(context.another(), place) };
}

describeOnEveryStore("two calls at the same time", (open, runs) => {
  test("end as if one was made after the other", { timeout: 120_000 }, async () => {
    const nextWorkspace = workspacesOf(open({ ...WITH_VAULT, usage: false }));
    for (const seed of seedsOf(runs(100))) {
      const chance = chanceOf(seed);
      // Mostly of one group: these meet more often.
      const group = chance.pick(GROUPS);
      const one = chance.pick(group);
      const two = chance.pick(chance.below(3) === 0 ? GROUPS.flat() : group);
      const schedule = { at: chance.below(6), isWarm: chance.below(2) === 0 };
      const make = (at: number) => makeBoth(nextWorkspace(), one, two, { ...schedule, at });
      const both = await make(schedule.at);
      const orders = [await make(-1), await make(Number.POSITIVE_INFINITY)];
      const why = `seed ${seed}: ${two.title} before call ${schedule.at} of ${one.title}`;
      expect(orders, why).toContainEqual(both);
    }
  });
});
