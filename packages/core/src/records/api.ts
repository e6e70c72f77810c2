import type { EpochMs } from "../time.js";

/** A key space. */
export interface ApiRecord {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  /** A protected API is not deleted until the protection is taken away. */
  readonly deleteProtection: boolean;
  /**
   * Addresses and CIDR ranges that its keys may be used from, IPv4 and IPv6, each in one canonical form; empty: from
   * anywhere.
   */
  readonly ipWhitelist: readonly string[];
  readonly createdAt: EpochMs;
  /** Rises by one with every change of a field above. */
  readonly version: number;
}
