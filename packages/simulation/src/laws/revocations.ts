import type { VerifyOutcome } from "@latchkey/core";
import { type Call, hasReturned, type KnownKey, mayHaveHappened, returnedBy } from "../history.js";
import type { World } from "../world/world.js";

/** Something that a verification needs, and that calls give and take away. */
interface Need {
  readonly what: string;
  readonly takesAway: (call: Call) => boolean;
  readonly gives: (call: Call) => boolean;
  /** Ids of the records that say so. */
  readonly ids: readonly string[];
}

function needsOf(world: World, verification: Call): readonly Need[] {
  const key = verification.key as KnownKey;
  const own = world.workspaces[verification.workspace];
  const isOfKey = (call: Call): boolean => call.key === key;
  const isOfWorkspace = (call: Call): boolean =>
    call.key === null && call.workspace === verification.workspace;
  const needs: Need[] = [
    {
      what: "the key is switched on",
      takesAway: (call) => isOfKey(call) && call.action === "switchKey" && !call.args.enabled,
      gives: (call) => isOfKey(call) && call.action === "switchKey" && call.args.enabled === true,
      ids: [key.keyId],
    },
    {
      what: "the key exists",
      takesAway: (call) => isOfKey(call) && call.action === "deleteKey",
      gives: () => false,
      ids: [key.keyId],
    },
    {
      what: "the workspace is switched on",
      takesAway: (call) =>
        isOfWorkspace(call) && call.action === "switchWorkspace" && !call.args.enabled,
      gives: (call) =>
        isOfWorkspace(call) && call.action === "switchWorkspace" && call.args.enabled === true,
      ids: [own?.id as string],
    },
    {
      what: "the API lets the address in",
      takesAway: (call) => isOfWorkspace(call) && call.action === "allowList" && !call.args.isOpen,
      gives: (call) =>
        isOfWorkspace(call) && call.action === "allowList" && call.args.isOpen === true,
      ids: [own?.apiId as string],
    },
  ];
  const { permissions } = verification.args;
  if (permissions === "read")
    needs.push({
      what: "the role may read",
      takesAway: (call) =>
        isOfWorkspace(call) && call.action === "roleReads" && !call.args.isGranted,
      gives: (call) =>
        isOfWorkspace(call) && call.action === "roleReads" && call.args.isGranted === true,
      ids: [own?.roleId as string],
    });
  if (permissions === "write")
    needs.push({
      what: "the key may write",
      takesAway: (call) => isOfKey(call) && call.action === "grantWrite" && !call.args.isGranted,
      gives: (call) =>
        isOfKey(call) && call.action === "grantWrite" && call.args.isGranted === true,
      ids: [key.keyId],
    });
  return needs;
}

/** No verification admits that starts after a revocation has resolved, unless the right was given back, or the store lost the revocation. */
export function revocationsHold(world: World): string | null {
  for (const verification of world.calls) {
    if (verification.action !== "verify") continue;
    if (returnedBy<VerifyOutcome>(verification).code !== "VALID") continue;
    // A repeat tells what was decided before.
    if (verification.args.requestId !== undefined) continue;
    for (const need of needsOf(world, verification)) {
      const contradicted = world.calls.find(
        (call) =>
          need.takesAway(call) &&
          hasReturned(call) &&
          call.endTick < verification.startTick &&
          !world.calls.some(
            (other) =>
              need.gives(other) &&
              mayHaveHappened(other) &&
              other.endTick > call.startTick &&
              other.startTick < verification.endTick,
          ) &&
          !world.losses.some(
            ({ tick, ids }) =>
              tick > call.startTick &&
              tick < verification.endTick &&
              need.ids.some((id) => ids.has(id)),
          ),
      );
      if (contradicted !== undefined)
        return `#${verification.index} was admitted after #${contradicted.index} had resolved (${need.what})`;
    }
  }
  return null;
}
