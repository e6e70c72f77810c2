import type { Change, LimitAlgorithm } from "@latchkey/core";
import { type Call, mayHaveHappened, returnedBy } from "../history.js";
import type { ModelWorkspace } from "../model/store-model.js";
import type { World } from "../world/world.js";
import { entriesOf, resourceOf, type StoredLimit } from "./stored-records.js";

const ALGORITHMS: Readonly<Record<string, LimitAlgorithm>> = {
  s: "sliding",
  t: "token-bucket",
  c: "concurrent",
};

/**
 * The limit of a window, read from the window's name: `<duration>:<name>`, with a letter in front for algorithms other than fixed windows.
 * Null: the name has another form.
 */
function limitOf(window: string): Pick<StoredLimit, "algorithm" | "duration" | "name"> | null {
  const [, mark = "", duration, name = ""] = /^([stc]?)(\d+):([^:]*)$/.exec(window) ?? [];
  if (duration === undefined) return null;
  const algorithm = ALGORITHMS[mark] ?? "fixed";
  return { name: decodeURIComponent(name), duration: Number(duration), algorithm };
}

/** The limits in a body; empty if the record is damaged. */
function limitsOf(body: unknown): readonly StoredLimit[] {
  const { ratelimits } = Object(body) as { readonly ratelimits?: unknown };
  return Array.isArray(ratelimits) ? ratelimits : [];
}

/** Whether a window belongs to one of these limits. */
function isOf(limits: readonly StoredLimit[], window: string): boolean {
  const of = limitOf(window);
  return limits.some(
    ({ name = "default", duration, algorithm = "fixed" }) =>
      of?.name === name && of.duration === duration && of.algorithm === algorithm,
  );
}

/** Law: when a limit is removed or reset, the store forgets what was taken of it. */
export function limitsAreEmptied(before: ModelWorkspace, change: Change): string | null {
  const leftOf = (kind: string, id: string): readonly string[] => {
    const { keepWindows, dropWindows = [] } = change.counters.find((one) => one.id === id) ?? {};
    return [...(before.get(kind, id)?.counter?.windows.keys() ?? [])].filter(
      (name) => !dropWindows.includes(name) && keepWindows?.includes(name) !== false,
    );
  };
  for (const entry of entriesOf(change, before)) {
    if (entry.type !== "ratelimit.reset") continue;
    const [owner, name] = [resourceOf(entry), entry.before?.name];
    // Only its own limits: a key shares its counters with its successor, whose limit of this name may differ.
    const isLeft = ["key", "identity"].some((kind) => {
      const limits = limitsOf(before.get(kind, owner)?.record.body);
      const reset = limits.filter((limit) => (limit.name ?? "default") === name);
      return leftOf(kind, owner).some((window) => isOf(reset, window));
    });
    if (isLeft) return `${owner}: ${name} was reset, and something of it is left`;
  }
  for (const { record } of change.puts) {
    const { kind, id } = record;
    const was = before.get(kind, id)?.record;
    if ((kind !== "key" && kind !== "identity") || was === undefined) continue;
    if (before.damaged.has(id)) continue;
    const [old, limits] = [limitsOf(was.body), limitsOf(record.body)];
    if (JSON.stringify(old) === JSON.stringify(limits)) continue;
    const left = leftOf(kind, id);
    const counter = before.get(kind, id)?.counter;
    // The windows of a rotated key stay: the other key of the rotation may still count in them.
    if (Object(was.body).sharedCountersId === undefined) {
      const over = left.find((window) => !isOf(limits, window));
      if (over !== undefined) return `${id}: ${over} is left of a limit that it has no more`;
    }
    for (const window of counter?.windows.keys() ?? []) {
      const isOthers = [...before.records.values()].some(
        (other) =>
          other.counter === counter &&
          other.record.id !== id &&
          isOf(limitsOf(other.record.body), window),
      );
      if (isOthers && !left.includes(window))
        return `${id}: ${window} is forgotten, by which another key of its rotation counts`;
    }
  }
  return null;
}

/** Law: a limit without an owner refuses no call while there is room: other calls with the same identifier must have taken all units. */
export function limitsHaveRoomUntilTaken(world: World): string | null {
  const limits = world.calls.filter(({ action }) => action === "limit");
  for (const refused of limits) {
    const { success, limit = 0, burst = limit, reset } = answerOf(refused);
    const { algorithm } = refused.args;
    if (success !== false) continue;
    const taken = limits.filter(
      (call) =>
        call !== refused &&
        call.workspace === refused.workspace &&
        call.args.identifier === refused.args.identifier &&
        call.args.duration === refused.args.duration &&
        call.args.algorithm === algorithm &&
        call.startTick < refused.endTick &&
        mayHaveHappened(call) &&
        answerOf(call).success !== false &&
        (algorithm !== undefined || (answerOf(call).reset ?? reset) === reset),
    );
    if (taken.length < burst)
      return `#${refused.index} was refused, and ${taken.length} of ${burst} units can be taken`;
  }
  return null;
}

function answerOf(call: Call) {
  return returnedBy<{ success: boolean; limit: number; burst: number; reset: number }>(call);
}
