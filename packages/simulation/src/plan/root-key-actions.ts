import type { CreatedRootKey, Latchkey } from "@latchkey/core";
import type { Call, KnownRootKey } from "../history.js";
import type { Random } from "../random.js";
import type { World } from "../world/world.js";
import { type Action, type Again, namedOrDrawn } from "./action.js";

/** Arguments of an action on a root key. */
export interface RootKeyArgs {
  readonly does: "create" | "authenticate" | "revoke" | "rotate" | "expire" | "permit";
  /** Name of the root key; absent: it creates one. */
  readonly root?: string;
  readonly graceMs?: number;
  readonly inMs?: number | null;
  readonly permissions: readonly string[];
}

const PERMISSIONS = [["api.*.read_api"], ["api.*.read_api", "api.*.create_key"]];

function choose(random: Random): RootKeyArgs & { readonly drawn: number } {
  const does = random.weighted({
    create: 2,
    authenticate: 6,
    revoke: 3,
    rotate: 2,
    expire: 2,
    permit: 2,
  });
  return {
    does,
    drawn: random.below(1_000),
    permissions: random.pick(PERMISSIONS),
    ...(does === "rotate" && { graceMs: random.pick([0, 500, 60_000]) }),
    ...(does === "expire" && { inMs: random.pick([null, 500, 2_000]) }),
  };
}

/** Notes a new root key. @returns Its name. */
function learn(
  { rootKeys }: World,
  { rootKeyId, key: secret }: CreatedRootKey,
  known: Pick<KnownRootKey, "workspace" | "permissions" | "origin">,
): string {
  const name = `root${rootKeys.length}`;
  rootKeys.push({ name, rootKeyId, secret, ...known });
  return name;
}

async function create(latchkey: Latchkey, args: RootKeyArgs, world: World, call: Call) {
  const { permissions } = args;
  const made = await latchkey.createRootKey({ permissions });
  return learn(world, made, { workspace: call.workspace, permissions, origin: null });
}

async function change(
  latchkey: Latchkey,
  root: KnownRootKey,
  { does, graceMs, inMs, permissions }: RootKeyArgs,
  world: World,
  call: Call,
): Promise<unknown> {
  const { rootKeyId, secret, workspace } = root;
  switch (does) {
    case "authenticate":
      return latchkey.authenticateRootKey(secret);
    case "revoke":
      return latchkey.revokeRootKey({ rootKeyId });
    case "rotate": {
      const made = await latchkey.rotateRootKey({ rootKeyId, graceMs: graceMs ?? 0 });
      return learn(world, made, { workspace, permissions: [], origin: { root, call } });
    }
    case "expire":
      return latchkey.updateRootKey({
        rootKeyId,
        expires: inMs == null ? null : call.startNow + inMs,
      });
    default:
      return latchkey.updateRootKey({ rootKeyId, permissions });
  }
}

type Given = ReturnType<typeof choose> & Again;

/** Actions on root keys. The first of a schedule creates one. */
export const ROOT_KEY_ACTIONS: { readonly rootKey: Action } = {
  rootKey: {
    weight: 10,
    choose: (random) => ({ ...choose(random) }),
    perform: ({ world, process, action }, given) => {
      const { drawn, workspace: where, root: name, ...args } = given as unknown as Given;
      const root = namedOrDrawn(world.rootKeys, name, drawn);
      if (root === undefined || args.does === "create") {
        const asked = { does: "create", permissions: args.permissions } as const;
        const workspace = where ?? drawn % world.workspaces.length;
        world.call({ process, action, args: asked, workspace, key: null }, (latchkey, call) =>
          create(latchkey, asked, world, call),
        );
        return;
      }
      const asked = { ...args, root: root.name };
      const { workspace } = root;
      world.call({ process, action, args: asked, workspace, key: null }, (latchkey, call) =>
        change(latchkey, root, args, world, call),
      );
    },
  },
};
