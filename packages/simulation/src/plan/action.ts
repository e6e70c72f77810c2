import type { Latchkey } from "@latchkey/core";
import type { Call, KnownKey } from "../history.js";
import type { Random } from "../random.js";
import type { KnownWorkspace } from "../world/beginning.js";
import type { Network } from "../world/link.js";
import type { World } from "../world/world.js";

type Args = Readonly<Record<string, unknown>>;

/** The context in which an action is performed. */
interface Stage {
  readonly world: World;
  readonly process: number;
  /** Name of the action. */
  readonly action: string;
}

/** What a call that is made again adds to the arguments that were drawn. */
export interface Again {
  /** Index of the workspace. */
  readonly workspace?: number;
}

/** An action of a plan. Its arguments are drawn in advance, so a plan is plain data. */
export interface Action {
  readonly weight: number;
  /** Networks on which the action makes sense; default: all. */
  readonly needs?: readonly Network[];
  readonly choose: (random: Random) => Args;
  readonly perform: (stage: Stage, args: Args) => void | Promise<void>;
}

/** An action that a process performs on a key. A number drawn in advance selects the key among those that exist by then. */
export function onKey<Chosen extends object>(
  weight: number,
  choose: (random: Random) => Chosen,
  perform: (
    latchkey: Latchkey,
    key: KnownKey,
    args: Chosen,
    world: World,
    call: Call,
  ) => Promise<unknown>,
): Action {
  return {
    weight,
    choose: (random) => ({ key: random.below(1_000), ...choose(random) }),
    perform: ({ world, process, action }, { key: drawn, ...args }) => {
      const key = world.keys[(drawn as number) % world.keys.length] as KnownKey;
      world.call({ process, action, args, workspace: key.workspace, key }, (latchkey, call) =>
        perform(latchkey, key, args as Chosen, world, call),
      );
    },
  };
}

/** Selects one of what the world knows: by its name if a call is made again, otherwise by a number that was drawn. Undefined: none. */
export function namedOrDrawn<Known extends { readonly name: string }>(
  all: readonly Known[],
  name: string | undefined,
  drawn: number,
): Known | undefined {
  if (name !== undefined) return all.find((one) => one.name === name);
  return all[drawn % Math.max(1, all.length)];
}

/** An action that a process performs on an earlier reservation. Does nothing if there is none. */
export function onReservation<Chosen extends object>(
  weight: number,
  choose: (random: Random) => Chosen,
  perform: (latchkey: Latchkey, reservationId: string, args: Chosen) => Promise<unknown>,
): Action {
  return {
    weight,
    choose: (random) => ({ drawn: random.below(1_000), ...choose(random) }),
    perform: ({ world, process, action }, { drawn, reservationId, key: _, ...asked }) => {
      const named = world.reservations.find(({ id }) => id === reservationId);
      // Mostly one of the latest.
      const latest = world.reservations.slice(-3).reverse();
      const known = named ?? latest[(drawn as number) % Math.max(1, latest.length)];
      if (known === undefined) return;
      const { id, key } = known;
      const args = { ...asked, reservationId: id };
      world.call({ process, action, args, workspace: key.workspace, key }, (latchkey) =>
        perform(latchkey, id, args as Chosen),
      );
    },
  };
}

/** An action that a process performs in a workspace. */
export function inWorkspace<Chosen extends object>(
  weight: number,
  choose: (random: Random) => Chosen,
  perform: (
    latchkey: Latchkey,
    own: KnownWorkspace,
    args: Chosen,
    world: World,
  ) => Promise<unknown>,
): Action {
  return {
    weight,
    choose: (random) => ({ workspace: random.below(1_000), ...choose(random) }),
    perform: ({ world, process, action }, { workspace: drawn, ...args }) => {
      const workspace = (drawn as number) % world.workspaces.length;
      const own = world.workspaces[workspace] as KnownWorkspace;
      world.call({ process, action, args, workspace, key: null }, (latchkey) =>
        perform(latchkey, own, args as Chosen, world),
      );
    },
  };
}

/** An action of the world, not of a process. */
export function byWorld(
  weight: number,
  choose: (random: Random) => Args,
  perform: Action["perform"],
  needs?: readonly Network[],
): Action {
  return { weight, choose, perform, ...(needs !== undefined && { needs }) };
}

/** Sometimes an idempotency key, from a choice so small that calls share them. */
export function sometimesRepeatable(random: Random): { readonly idempotencyKey?: string } {
  return random.chance(30) ? { idempotencyKey: `i${random.below(2)}` } : {};
}

/** For actions without arguments. */
export const nothing = (): Args => ({});
