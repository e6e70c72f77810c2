import type { Latchkey, PortalSession } from "@latchkey/core";
import type { Call, KnownSession } from "../history.js";
import type { Random } from "../random.js";
import type { World } from "../world/world.js";
import { type Action, type Again, namedOrDrawn } from "./action.js";

/** Arguments of an action on a portal session. */
export interface SessionArgs {
  readonly does: "open" | "list" | "makeKey" | "end";
  /** Name of the session; absent: it creates one. */
  readonly session?: string;
  /** Whether the process goes on with a session that it has opened before. */
  readonly isKept?: boolean;
  /** Index of the identity that the session is for. */
  readonly owner: number;
  readonly ttl: number;
}

function choose(random: Random): SessionArgs & { readonly drawn: number } {
  return {
    does: random.weighted({ open: 3, list: 6, makeKey: 2, end: 2 }),
    drawn: random.below(1_000),
    isKept: random.chance(60),
    owner: random.below(2),
    ttl: random.pick([500, 2_000, 600_000]),
  };
}

async function create(latchkey: Latchkey, { owner, ttl }: SessionArgs, world: World, call: Call) {
  const { apiId } = world.workspaceOf(call.workspace);
  const { sessionId, secret, expires } = await latchkey.createPortalSession({
    externalId: `user_${owner}`,
    ttl,
    allow: { apiIds: [apiId], create: true },
  });
  const name = `session${world.sessions.length}`;
  const { workspace, startAt: madeAt } = call;
  const kept = new Map<Latchkey, PortalSession>();
  world.sessions.push({ name, sessionId, secret, madeAt, expires, owner, workspace, kept });
  return name;
}

async function perform(
  latchkey: Latchkey,
  known: KnownSession,
  { does, isKept }: SessionArgs,
  world: World,
): Promise<unknown> {
  const { sessionId, secret, kept, owner, workspace } = known;
  if (does === "end") return latchkey.revokePortalSession({ sessionId });
  const opened = isKept ? kept.get(latchkey) : undefined;
  const session = opened ?? (await latchkey.openPortalSession(secret));
  if (session === null) return { isOver: true };
  kept.set(latchkey, session);
  if (does === "makeKey") {
    const made = await session.createMyKey({});
    const nothing = { remaining: null, refill: null, limit: null, slots: null } as const;
    const setup = { ...nothing, identity: owner, usesFrom: "key", hasRole: false } as const;
    return world.learnKey(made, { workspace, setup }, null);
  }
  const { keys } = await session.listMyKeys({ limit: 100 });
  return { keyIds: keys.map(({ id }) => id) };
}

type Given = ReturnType<typeof choose> & Again;

/** Actions on portal sessions. The first of a schedule creates one. */
export const SESSION_ACTIONS: { readonly session: Action } = {
  session: {
    weight: 10,
    choose: (random) => ({ ...choose(random) }),
    perform: ({ world, process, action }, given) => {
      const { drawn, workspace: where, session, ...args } = given as unknown as Given;
      const known = namedOrDrawn(world.sessions, session, drawn);
      if (known === undefined || args.does === "open") {
        const asked = { does: "open", owner: args.owner, ttl: args.ttl } as const;
        const workspace = where ?? drawn % world.workspaces.length;
        world.call({ process, action, args: asked, workspace, key: null }, (latchkey, call) =>
          create(latchkey, asked, world, call),
        );
        return;
      }
      const { name, owner, workspace } = known;
      const { does, isKept } = args;
      const asked = { does, isKept, session: name, owner };
      world.call({ process, action, args: asked, workspace, key: null }, (latchkey) =>
        perform(latchkey, known, args, world),
      );
    },
  },
};
