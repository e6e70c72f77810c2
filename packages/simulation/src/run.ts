import type { AppliedCharge, ChargeMoment, ChargePlan } from "@latchkey/core";
import { type Call, returnedBy } from "./history.js";
import { HISTORY_LAWS, stepLaws } from "./laws/laws.js";
import { ACTIONS, type ActionName } from "./plan/actions.js";
import { askAtTheEnd } from "./plan/ask-at-the-end.js";
import type { Plan, Step } from "./plan/plan.js";
import type { Stores } from "./world/scheduler.js";
import type { Violation } from "./world/server.js";
import { World } from "./world/world.js";

/** The result of a schedule. */
export interface Run {
  /** The law that broke, and how; null: none. */
  readonly violation: Violation | null;
  /** What happened, line by line. */
  readonly story: readonly string[];
  /** How often each action was performed, and each outcome of calls occurred. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Runs a schedule from its first step to its end, and checks every law. */
export async function runPlan(plan: Plan, isTold = true, stores?: Stores): Promise<Run> {
  const world = new World(plan, stepLaws(), isTold, stores);
  const violation = await live(world).then(
    () => violationOf(world),
    (error: unknown) => ({ law: "the world goes on", how: String(error) }),
  );
  const run = { violation, story: world.story, counts: countsOf(world) };
  if (plan.sends === true) await world.end();
  return run;
}

const isVerification = ({ action }: Step) => action === "verify";

async function live(world: World): Promise<void> {
  await world.prepare();
  world.senders.turn(true, world.processes);
  // The uses that these verifications take are in the last trail of the move, or lost.
  world.atFence = () => {
    for (const { process, action, args } of world.plan.steps.filter(isVerification).slice(0, 3))
      void ACTIONS[action as ActionName].perform({ world, process, action }, args);
  };
  world.atEnd = (call) => askAgain(world, call);
  for (const { afterMs, process, action, args } of world.plan.steps) {
    await world.scheduler.run(world.scheduler.now + afterMs);
    await ACTIONS[action as ActionName].perform({ world, process, action }, args);
  }
  world.senders.turn(false, world.processes);
  await world.scheduler.run();
  Object.assign(world, { atFence: null, atEnd: null });
  world.restTick = world.scheduler.nextTick();
  await askAtTheEnd(world);
}

/** Asks again at the very edge: when a refused request fits according to its verdict, or when a reservation expires. */
function askAgain(world: World, call: Call): void {
  const { process, action, key, startAt, startNow } = call;
  const { againBy, ...args } = call.args as { readonly againBy?: number };
  const told = returnedBy<{ readonly retryAfterMs: number; readonly expiresAt: number }>(call);
  const afterMs = told.retryAfterMs ?? (told.expiresAt ?? Number.NaN) - startNow;
  if (key === null || againBy === undefined || !(afterMs < 100_000)) return;
  const about = { ...args, key: world.keys.indexOf(key) };
  world.scheduler.after(startAt + afterMs + againBy - world.scheduler.now, 0, () => {
    void ACTIONS[action as ActionName].perform({ world, process, action }, about);
  });
}

async function violationOf(world: World): Promise<Violation | null> {
  if (world.server.broken !== null) return world.server.broken;
  // Damaged records must be mended before a move.
  if (world.unfinished !== null) return { law: "a move comes to its end", how: world.unfinished };
  for (const [law, check] of Object.entries(HISTORY_LAWS)) {
    const told = check(world);
    const how = told instanceof Promise ? await told : told;
    if (how !== null) return { law, how };
  }
  return null;
}

function countsOf({
  calls,
  plan,
  losses,
  restTick,
  server,
  leased,
  receivers,
}: World): Run["counts"] {
  const counts: Record<string, number> = {};
  const count = (name: string, by = 1): void => {
    counts[name] = (counts[name] ?? 0) + by;
  };
  for (const { action } of plan.steps) count(action);
  for (const { outcome, startTick } of calls) {
    if (startTick > restTick) break;
    if (outcome.kind === "failed")
      count(`failed ${(outcome.error as { code?: string }).code ?? "otherwise"}`);
    else if (outcome.kind === "returned")
      count(`returned ${(outcome.value as { code?: string } | undefined)?.code ?? ""}`.trim());
    else count(outcome.kind);
  }
  for (const { method, args, result, process } of server.log) {
    const { limits } = args[0] as Partial<ChargePlan>;
    if (method !== "charge" || process === -1) continue;
    if ((args[1] as ChargeMoment).holdId?.startsWith("lse_")) count("leases");
    for (const [place, { exceeded }] of ((result as AppliedCharge).limits ?? []).entries()) {
      const { algorithm, shadow } = limits?.[place] ?? {};
      // What is remembered of a request may have more limits.
      if (algorithm !== undefined)
        count(`limit ${algorithm}${shadow ? ", shadow" : ""}: ${exceeded ? "full" : "room"}`);
    }
  }
  count("decided by leases", leased);
  for (const { isTaken } of receivers.arrivals) count(`webhooks ${isTaken ? "taken" : "refused"}`);
  count(
    "writes lost",
    losses.reduce((sum, { writes }) => sum + writes.length, 0),
  );
  return counts;
}
