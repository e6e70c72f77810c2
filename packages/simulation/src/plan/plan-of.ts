import type { Refill } from "../history.js";
import { Random } from "../random.js";
import { BEGIN_AT } from "../world/scheduler.js";
import { ACTIONS, type ActionName } from "./actions.js";
import { type Figures, figuresOf } from "./limits.js";
import type { Plan, Step } from "./plan.js";

const DAY_MS = 86_400_000;

/**
 * When two calls revoke the same key, the second must not resolve before the revocation is durable. Plans with mostly these actions test
 * that.
 */
const REVOKING: readonly ActionName[] = [
  "switchKey",
  "deleteKey",
  "disableKeys",
  "deleteKeys",
  "reportLeak",
  "failOver",
];

/** A position is lost only if a reader has just read to the end of the log. Plans with mostly these actions test that. */
const READING: readonly ActionName[] = [
  "readEvents",
  "renameKey",
  "switchKey",
  "createKey",
  "deleteKey",
  "pruneLog",
  "failOver",
];

/** An expiry is noticed twice only if two processes look for it at the same moment. */
const NOTICING: readonly ActionName[] = ["setExpires", "notice", "again", "rotateKey", "deleteApi"];

/** The weights of the pauses. */
const PAUSES = {
  none: 44,
  some: 26,
  call: 10,
  second: 4,
  edge: 5,
  span: 6,
  midnight: 2,
  long: 2,
  day: 1,
};

/** Makes the plan of a seed. */
export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const network = random.pick(["direct", "calm", "rough", "rough"]);
  const processes = random.between(1, 3);
  const workspaces = Array.from({ length: random.pick([1, 1, 2]) }, () => ({
    identities: Array.from({ length: random.between(1, 2) }, () => random.pick([null, 1, 2, 3])),
    limit: random.chance(40) ? figuresOf(random) : null,
    refill: random.chance(20) ? refillOf(random, 2) : null,
  }));
  const keys = Array.from({ length: random.between(1, 3) }, () => {
    const workspace = random.below(workspaces.length);
    const identity = random.chance(50)
      ? random.below(
          (workspaces[workspace] as { identities: readonly unknown[] }).identities.length,
        )
      : null;
    const usesFrom = identity !== null && random.chance(40) ? "identity" : "key";
    const remaining = random.pick([null, 1, 2, 3, 40]);
    return {
      workspace,
      remaining,
      refill: remaining !== null && random.chance(30) ? refillOf(random, remaining) : null,
      limit: random.chance(55) ? figuresOf(random) : null,
      slots: random.chance(35)
        ? { limit: random.between(1, 2), duration: random.pick([1_000, 3_000]) }
        : null,
      identity,
      usesFrom,
      hasRole: random.chance(50),
    } as const;
  });
  const isSkewed = random.chance(20);
  // With fewer kinds of actions, each pair of them meets more often.
  const names = Object.keys(ACTIONS) as ActionName[];
  const flushMs = network === "direct" ? null : random.pick([null, null, 5, 300, 300]);
  const isRevoking = flushMs === 300 && random.chance(40);
  const focus = random.pick([READING, NOTICING]);
  const isFocused = !isRevoking && random.chance(8);
  const only = isRevoking ? REVOKING : isFocused ? focus : null;
  const isLeasing = only === null && random.chance(20);
  const isSending = only === null && !isLeasing && random.chance(8);
  const percent = isLeasing ? 25 : 45;
  const chosen = new Set(only ?? names.filter(() => random.chance(percent)));
  // A move guarantees nothing if a failover loses some of its writes.
  if (chosen.has("moveStore")) chosen.delete("failOver");
  // The role of this name would be another one.
  if (chosen.has("deleteRole")) chosen.delete("ensureRole");
  // A guard keeps its slots as long as its response has not been read, and no action reads it.
  const hasSlots = !chosen.has("guarded");
  const weights = Object.fromEntries(
    names.map((name) => {
      const { weight, needs } = ACTIONS[name];
      const isOn = name === "verify" || (name === "webhooks" ? isSending : chosen.has(name));
      const fits = needs === undefined || needs.includes(network);
      // A crash loses only writes that are not durable yet, so it must be frequent.
      const times = name === "failOver" && flushMs !== null ? 3 : 1;
      const isSeldom = only !== null && name === "verify";
      return [name, isOn && fits ? weight * (isSeldom ? 0.25 : times) : 0];
    }),
  ) as Record<ActionName, number>;
  if (isLeasing) weights.verify *= 3;
  // What a sender had in memory matters only if its process is killed.
  if (isSending)
    Object.assign(weights, { verify: 15, kill: 3 * weights.kill, failOver: 3 * weights.failOver });
  let elapsedMs = 0;
  const steps: Step[] = Array.from({ length: random.between(6, isLeasing ? 60 : 36) }, () => {
    const action = random.weighted(weights);
    // A move takes seconds, while other actions go on.
    const isShort = isLeasing && random.chance(80);
    const afterMs = chosen.has("moveStore")
      ? random.below(400)
      : isShort
        ? random.below(30)
        : Math.min(pauseOf(random, elapsedMs), isSending ? LONGEST_SENDING_MS : DAY_MS);
    elapsedMs += afterMs;
    return {
      afterMs,
      process: random.below(processes),
      action,
      args: ACTIONS[action].choose(random),
    };
  });
  const plan: Plan = {
    seed,
    network,
    processes,
    clockOffsets: Array.from({ length: processes }, () =>
      isSkewed ? random.pick([0, -3_000, 90_000, 2 * DAY_MS]) : 0,
    ),
    flushMs,
    cachedKeys: random.pick([0, 1, 100, 100]),
    workspaces,
    keys: hasSlots ? keys : keys.map((key) => ({ ...key, slots: null })),
    steps,
  };
  if (isSending) return withWebhooks(plan, random.chance(20));
  return isLeasing ? withLeases(plan, random) : plan;
}

/** The longest pause of a schedule that sends webhooks: senders look at the log twice a second. */
const LONGEST_SENDING_MS = 3_000;

/** Sends webhooks. Clocks differ by so little that a pause by a wrong one ends within the schedule. */
function withWebhooks(plan: Plan, isMixed: boolean): Plan {
  const nearer = (offset: number) => Math.min(offset, 90_000);
  return {
    ...plan,
    sends: true,
    isMixed,
    clockOffsets: plan.clockOffsets.map(nearer),
    steps: plan.steps.map((step) =>
      step.action === "setClock"
        ? { ...step, args: { offset: nearer(step.args.offset as number) } }
        : step,
    ),
  };
}

/** How much there is of everything that is leased, and how much most verifications take: less than 100 is not leased. */
const [LEASED, EACH] = [200, 12];

/** Gives some processes leases: one key is verified again and again, and is soon used up. */
function withLeases(plan: Plan, random: Random): Plan {
  const isLimited = plan.keys[0]?.limit !== null;
  const usual = { key: 0, cost: EACH, ...(isLimited && { units: EACH }) };
  const raised = (limit: Figures | null): Figures | null =>
    limit && { ...limit, limit: LEASED, burst: undefined, shadow: false };
  return {
    ...plan,
    cachedKeys: 100,
    leases: Array.from({ length: plan.processes }, () => random.pick([null, 300, 1_000, 3_000])),
    workspaces: plan.workspaces.map(({ identities, limit = null, ...setup }) => ({
      ...setup,
      identities: identities.map((uses) => (uses === null ? null : LEASED)),
      limit: raised(limit),
    })),
    keys: plan.keys.map((key) => ({
      ...key,
      remaining: key.remaining === null ? null : LEASED,
      limit: raised(key.limit),
      slots: random.chance(20) ? key.slots : null,
    })),
    steps: plan.steps.map((step) =>
      step.action === "verify" && random.chance(85) ? { ...step, args: usual } : step,
    ),
  };
}

function refillOf(random: Random, uses: number): Refill {
  const amount = random.chance(50) ? uses : 1;
  const given = { amount, ...(random.chance(40) && { carryOver: random.between(1, 3) }) };
  switch (random.weighted({ daily: 5, monthly: 5, hourly: 2, weekly: 2, span: 3 })) {
    case "hourly":
      return { interval: "hourly", ...given };
    case "daily":
      return { interval: "daily", ...given };
    // The world begins on a Thursday.
    case "weekly":
      return { interval: "weekly", ...given, refillDay: random.pick([4, 5, 6]) };
    case "monthly":
      return { interval: "monthly", ...given, refillDay: random.pick([1, 31]) };
    case "span":
      return { interval: { every: random.pick([60_000, 90_000, DAY_MS]) }, ...given };
  }
}

/** The pause before a step: mostly none or short; sometimes to the edge of a window, or the next day. */
function pauseOf(random: Random, elapsedMs: number): number {
  switch (random.weighted(PAUSES)) {
    case "none":
      return 0;
    case "some":
      return random.below(6);
    case "call":
      return random.below(1_500);
    case "second":
      return random.between(1_000, 9_000);
    // Around the edge of a fixed window, and of a span that began with an earlier step: of one of its sixteenths, for a sliding limit.
    case "edge":
      return 1_000 - ((BEGIN_AT + elapsedMs) % 1_000) + random.between(-1, 1);
    case "span":
      return random.pick([20, 333, 500, 937, 1_000, 1_062]) + random.between(-1, 1);
    // Exactly midnight, when refills fall due and windows begin.
    case "midnight":
      return DAY_MS - ((BEGIN_AT + elapsedMs) % DAY_MS);
    case "long":
      return random.between(60_000, 700_000);
    case "day":
      return DAY_MS;
  }
}
