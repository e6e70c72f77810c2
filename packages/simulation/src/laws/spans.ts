import type { SettledReservation } from "@latchkey/core";
import { type Call, returnedBy } from "../history.js";
import { hasOtherClocks } from "../plan/plan.js";
import type { World } from "../world/world.js";
import { admissionsOf } from "./admissions.js";
import { callsOf } from "./reserved-uses.js";

/** A limit in a verdict, or in the answer of `limit`. */
interface Told {
  readonly name: string;
  readonly limit: number;
  readonly duration: number;
  readonly reset: number;
  readonly exceeded?: boolean;
  readonly algorithm?: string;
  readonly burst?: number;
  readonly shadow?: boolean;
}

/** Units that a call took from a limit. */
interface Taking {
  readonly call: Call;
  /** Its owner, its name and how it counts. */
  readonly window: string;
  readonly limit: Told;
  readonly units: number;
}

const limitsOf = (call: Call): readonly Told[] =>
  returnedBy<{ ratelimits: readonly Told[] }>(call).ratelimits ?? [];

/**
 * Law: no more units are admitted than a limit allows, in a fixed window, in any span of a sliding limit, and in any time by a bucket,
 * unless the limit was reset or changed, or the store lost writes. A limit without an owner cannot be reset.
 */
export function limitsAreNotOverspent(world: World): string | null {
  if (world.losses.length > 0) return null;
  const byWindow = new Map<string, Taking[]>();
  const all = takingsOf(world);
  const late = all.find(
    ({ call: { leastNow, args }, limit: { algorithm, reset } }) =>
      algorithm === undefined && args.requestId === undefined && reset <= leastNow,
  );
  if (late !== undefined) return `#${late.call.index} takes from a window that is over`;
  for (const taking of all)
    byWindow.set(taking.window, [...(byWindow.get(taking.window) ?? []), taking]);
  for (const [window, takings] of byWindow) {
    const most = Math.max(...takings.map(({ limit: { burst, limit } }) => burst ?? limit));
    for (const from of takings)
      for (const to of takings) {
        const room = roomBetween(world, most, from, to);
        const isIn = ({ call, limit }: Taking): boolean =>
          from.limit.algorithm === undefined
            ? limit.reset === from.limit.reset
            : call.startAt >= from.call.startAt && call.endAt <= to.call.endAt;
        const units = takings.filter(isIn).reduce((sum, taking) => sum + taking.units, 0);
        if (units > room) return `${window}: ${units} units admitted, ${room} may be`;
      }
  }
  return null;
}

/** Most units that a limit may admit from the beginning of one call to the end of another. `most`: at once. */
function roomBetween(
  world: World,
  most: number,
  { call, limit: told }: Taking,
  to: Taking,
): number {
  const { algorithm, limit, duration } = told;
  const ms = Math.max(0, to.call.endAt - call.startAt);
  if (algorithm === undefined) return most;
  if (hasOtherClocks(world.plan)) return Number.POSITIVE_INFINITY;
  if (algorithm === "token-bucket") return most + (ms * limit) / duration;
  return ms < duration ? most : Number.POSITIVE_INFINITY;
}

function takingsOf(world: World): readonly Taking[] {
  const changing = ["resetLimit", "setLimit", "moveKey", "limitIdentity"];
  const isChanged = world.calls.some(({ action }) => changing.includes(action));
  const admitted = isChanged ? [] : admissionsOf(world, world.keys, ["verify", "reserve"]);
  const ofKeys = admitted.flatMap((call) =>
    limitsOf(call).flatMap((limit): readonly Taking[] => {
      const { name, algorithm, duration, exceeded } = limit;
      // Limits made up by requests vary from one request to the next. A repeat took its units earlier.
      const isApart = name === "tiles" || name === "parallel";
      const isRepeat = algorithm !== undefined && call.args.requestId !== undefined;
      if (isApart || isRepeat || exceeded) return [];
      const { first, workspace, setup } = call.key as NonNullable<Call["key"]>;
      const owner = name === "shared" ? `user_${setup.identity} of ${workspace}` : first;
      const units = unitsOf(world, call, name);
      return [{ call, limit, units, window: `${owner} ${name} ${algorithm} ${duration}` }];
    }),
  );
  const others = world.calls.flatMap((call): readonly Taking[] => {
    const { success, ...told } = returnedBy<Told & { readonly success: boolean }>(call);
    if (call.action !== "limit" || success !== true || told.exceeded) return [];
    const { identifier, duration } = call.args as { identifier: string; duration: number };
    const limit = { name: identifier, duration, ...told } as Told;
    const window = `${call.workspace} ${identifier} ${limit.algorithm} ${duration}`;
    return [{ call, limit, units: 1, window }];
  });
  return [...ofKeys, ...others];
}

/** The least number of units that a call took: what it asked for, or of a reservation, what was used of it. */
function unitsOf(world: World, call: Call, name: string): number {
  if (call.action !== "reserve")
    return name === "default" ? ((call.args.units as number | undefined) ?? 1) : 1;
  const reservation = world.reservations.find((one) => one.call === call);
  const ends = reservation === undefined ? [] : callsOf(world, reservation);
  const taken = ends.flatMap((end) => returnedBy<SettledReservation>(end).taken?.ratelimits ?? []);
  return taken.find((one) => one.name === name)?.cost ?? 0;
}

/** Law: a shadow limit refuses nobody, and any other refuses what it has no room for. */
export function shadowsRefuseNobody(world: World): string | null {
  for (const call of world.calls) {
    const { code } = returnedBy<{ readonly code: string }>(call);
    // What is remembered of a request may be about limits that have changed since.
    if (code === undefined || call.args.requestId !== undefined) continue;
    const isRefused = limitsOf(call).some(({ exceeded, shadow }) => exceeded && !shadow);
    if (call.action !== "explain" && isRefused !== (code === "RATE_LIMITED"))
      return `#${call.index} was told ${code}, by ${JSON.stringify(limitsOf(call))}`;
  }
  return null;
}
