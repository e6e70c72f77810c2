import type { EpochMs } from "../time.js";

/** A key that authorises management calls in one workspace. It verifies as no API's key. */
export interface RootKeyRecord {
  readonly id: string;
  readonly workspaceId: string;
  readonly hash: string;
  readonly start: string;
  readonly name: string | null;
  /** What the token may do: `*`, `api.*.create_key`, `api.<apiId>.read_key` … Empty means nothing. */
  readonly permissions: readonly string[];
  readonly expiresAt: EpochMs | null;
  readonly switchedOn: boolean;
  readonly createdAt: EpochMs;
}
