import { announce, toLog } from "../../audit/entry.js";
import type { LoadedKey } from "../../records/key.js";
import { missingGrants, notFound, type OperationContext, untilFresh } from "../context.js";
import { refuseUsageChange } from "../usage-refusal.js";
import { isHeldOneMissing } from "./grant-input.js";
import { describeKeyPatch, type WantedKey } from "./patch.js";

/**
 * Changes a key in one guarded write, on what it is at that moment.
 *
 * @param decide - What is to become of the key as it is; asked again when the key has changed meanwhile. Where every field
 * is undefined nothing is written.
 * @throws LatchkeyError as updateKey says.
 */
export function changeKey(
  context: OperationContext,
  keyId: string,
  decide: (loaded: LoadedKey) => WantedKey,
): Promise<void> {
  const { store, workspaceId } = context;
  return untilFresh(async () => {
    const loaded = await store.getKey(workspaceId, keyId);
    if (loaded === null) throw notFound("key");
    const wanted = decide(loaded);
    if (Object.values(wanted).every((value) => value === undefined)) return undefined;
    const { patch, changes } = describeKeyPatch(context, loaded, wanted, context.now());
    const { version } = loaded.key;
    const result = await store.updateKey(
      workspaceId,
      keyId,
      version,
      patch,
      toLog(context, changes),
    );
    switch (result.kind) {
      case "updated":
        announce(context, changes, result.created);
        return undefined;
      case "stale":
        return "stale";
      case "not-found":
        throw notFound("key");
      case "missing-grants": {
        // Deleted since the key was read: nobody asked for it, and the key does not hold it any more.
        const { direct } = loaded;
        const isOutdated =
          isHeldOneMissing(direct.roles, patch.grants?.roles, result.roles) ||
          isHeldOneMissing(direct.permissions, patch.grants?.permissions, result.permissions);
        if (isOutdated) return "stale";
        throw missingGrants(result);
      }
      case "usage-refused":
        throw refuseUsageChange(result.reason, "remaining");
      default:
        return result satisfies never;
    }
  });
}
