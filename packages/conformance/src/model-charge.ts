import type { ChargePlan, KeyRecord, KeyStore, LimitCharge, LoadedKey } from "@latchkey/core";
import fc from "fast-check";
import { anApi, aPlan, takeAdHoc, takeFrom } from "./fixtures.js";
import * as any from "./model-arbitraries.js";
import { charge as chargeModel, remembered } from "./model-counters.js";
import { getKey } from "./model-keys.js";
import type { Model } from "./model-state.js";
import { choose, type StepKind, type World } from "./model-world.js";

/** Costs for the configured limits of a key, one after the other; null leaves a limit out. */
const costs = fc.array(fc.option(fc.nat({ max: 3 })), { minLength: 6, maxLength: 6 });

const request = fc.record({
  id: fc.constantFrom("first", "second"),
  fingerprint: fc.constantFrom("one", "one", "two"),
  keptMs: fc.integer({ min: 1, max: 2_000 }),
});

const input = fc.record({
  pick: any.pick,
  mode: fc.constantFrom("take" as const, "take" as const, "take" as const, "look" as const),
  cost: fc.nat({ max: 4 }),
  refill: any.refillOffset,
  own: costs,
  shared: costs,
  adHoc: any.adHocLimits,
  adHocCost: fc.nat({ max: 3 }),
  request: any.rarely(request),
  moved: any.rarely(fc.constantFrom("key", "identity", "epoch")),
  hasHandle: fc.boolean(),
});

type Input = typeof input extends fc.Arbitrary<infer Value> ? Value : never;

/** A charge as a verification makes it: on limits that the key has, or that the request made up. */
export const chargeKind: StepKind<Input> = {
  title: "charge",
  input,
  // What was once old enough to be forgotten may have been, when time then goes back. And a plan on a key of a deleted
  // API cannot be made on the epoch after the deletion: nobody finds the key then.
  isClear({ pick, request }, { everyKey, model, now, latest }) {
    const chosen = choose(everyKey, pick);
    if (chosen !== undefined && !model.hasApi(chosen)) return false;
    const known = chosen && request ? remembered(model, chosen.id, request.id) : null;
    return known === null || known.until <= now || known.until > latest;
  },
  async run(charge, world, store) {
    const chosen = choose(world.everyKey, charge.pick);
    if (chosen === undefined) return { actual: null, expected: null };
    const { epoch } = await store.getWorkspace(chosen.workspaceId);
    const { model } = world;
    const loaded = getKey(model, chosen.workspaceId, chosen.id) ?? unloaded(model, chosen);
    const plan = planOf(charge, loaded, world, epoch);
    return { actual: await store.charge(plan), expected: chargeModel(world.model, plan, epoch) };
  },
};

/** A key that is gone, as somebody may have loaded it before. */
function unloaded(model: Model, key: KeyRecord): LoadedKey {
  return {
    key,
    usage: { remaining: null, refilledAt: 0 },
    workspace: model.workspace(key.workspaceId),
    api: anApi(1, { id: key.apiId }),
    identity: null,
    identityUsage: null,
    direct: { roles: [], permissions: [] },
    roles: [],
    permissions: [],
    lastUsedAt: null,
  };
}

function planOf(
  charge: Input,
  loaded: LoadedKey,
  { now, handles }: World,
  epoch: number,
): ChargePlan {
  const { expects } = aPlan(loaded);
  const { identityVersion } = expects;
  const owesNothing = loaded.key.usesFrom === "identity" && loaded.identity === null;
  return aPlan(loaded, {
    now,
    expects: {
      keyVersion: expects.keyVersion + (charge.moved === "key" ? 1 : 0),
      identityVersion: charge.moved === "identity" ? (identityVersion ?? 0) + 1 : identityVersion,
      epoch: epoch + (charge.moved === "epoch" ? 1 : 0),
    },
    mode: charge.mode,
    cost: charge.cost,
    // An identity that does not exist owes no refill.
    refill: owesNothing ? null : any.dueAt(charge.refill, now),
    limits: limitsOf(charge, loaded),
    handle: charge.hasHandle ? handles.get(loaded.key.id) : undefined,
    request: charge.request
      ? {
          id: charge.request.id,
          fingerprint: charge.request.fingerprint,
          rememberUntil: now + charge.request.keptMs,
        }
      : undefined,
  });
}

function limitsOf(
  { own, shared, adHoc, adHocCost }: Input,
  { key, identity }: LoadedKey,
): readonly LimitCharge[] {
  const taken: LimitCharge[] = [];
  for (const [index, limit] of key.ratelimits.entries()) {
    const cost = own[index] ?? null;
    if (cost !== null) taken.push(takeFrom("key", limit, cost));
  }
  for (const [index, limit] of (identity?.ratelimits ?? []).entries()) {
    const cost = shared[index] ?? null;
    if (cost !== null) taken.push(takeFrom("identity", limit, cost));
  }
  return [...taken, ...adHoc.map((limit) => takeAdHoc(limit, adHocCost))];
}

/** What every limit of a key stands at, without taking. */
export async function lookAt(store: KeyStore, world: World, loaded: LoadedKey) {
  const { epoch } = await store.getWorkspace(loaded.key.workspaceId);
  const limits = [
    ...loaded.key.ratelimits.map((limit) => takeFrom("key", limit, 0)),
    ...(loaded.identity?.ratelimits ?? []).map((limit) => takeFrom("identity", limit, 0)),
    ...["x", "y"].map((name) => takeAdHoc({ name, limit: 9, durationMs: 60_000 }, 0)),
  ];
  const { expects } = aPlan(loaded);
  const plan = aPlan(loaded, {
    now: world.now,
    mode: "look",
    cost: 0,
    limits,
    expects: { ...expects, epoch },
  });
  return { actual: await store.charge(plan), expected: chargeModel(world.model, plan, epoch) };
}
