import { LatchkeyError } from "../../errors.js";
import { type RootKeyRecord, rootKeyType } from "../../records/root-key.js";
import { isExpired } from "../../rules/keys/expiry.js";
import { isGrantCovered } from "../../rules/root-permission.js";
import type { Transaction } from "../../store/transaction.js";
import type { EpochMs } from "../../time.js";
import type { RootKeyScope } from "./operations.js";

/** Bounds of the root keys that a caller creates. */
type Maker = Pick<RootKeyRecord, "permissions" | "expires">;

/**
 * Reads who makes or changes a root key, so that the commit rests on what that one holds then; null: the host itself, without bounds.
 *
 * @throws LatchkeyError `UNAUTHORIZED` for a root key that is gone, disabled or expired by now.
 */
export async function readMaker(
  transaction: Transaction,
  by: RootKeyScope["by"],
  now: EpochMs,
): Promise<Maker | null> {
  if (by === undefined) return null;
  if ("permissions" in by) return { permissions: by.permissions, expires: null };
  const found = await transaction.readOne({ kind: "rootKey", id: by.rootKeyId });
  const maker = found && rootKeyType.decode(found.record, transaction.workspaceId);
  if (maker === null || !maker.enabled || isExpired(maker.expires, now))
    throw new LatchkeyError("UNAUTHORIZED", "this root key authorises nothing any more");
  return maker;
}

/** @throws LatchkeyError `INSUFFICIENT_PERMISSIONS` for a root key that may do what its maker may not. */
export function refuseStronger(
  maker: Maker | null,
  { permissions }: Pick<RootKeyRecord, "permissions">,
): void {
  if (maker === null || permissions.every((name) => isGrantCovered(maker.permissions, name)))
    return;
  throw new LatchkeyError(
    "INSUFFICIENT_PERMISSIONS",
    "a root key may hold no permission that its maker does not hold",
  );
}

/** @throws LatchkeyError `INSUFFICIENT_PERMISSIONS` for a root key that lives longer than its maker. */
export function refuseOutliving(
  maker: Maker | null,
  { expires }: Pick<RootKeyRecord, "expires">,
): void {
  const last = maker?.expires ?? null;
  if (last === null || (expires !== null && expires <= last)) return;
  throw new LatchkeyError(
    "INSUFFICIENT_PERMISSIONS",
    'a root key that expires makes none that expires later: give it an earlier "expires"',
  );
}
