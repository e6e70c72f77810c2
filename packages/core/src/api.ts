import type { EpochMs } from "./time.js";

/** A key space. */
export interface ApiRecord {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly createdAt: EpochMs;
}
