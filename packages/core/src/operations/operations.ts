import type { DefaultTypes, LatchkeyTypes } from "../rules/latchkey-types.js";
import type { ApiOperations } from "./apis/operations.js";
import type { AuditOperations } from "./audit-log/audit-log.js";
import type { IdentityOperations } from "./identities/operations.js";
import type { KeyGrantOperations } from "./keys/grant-operations.js";
import type { KeyOperations } from "./keys/operations.js";
import type { LimitOperations } from "./rate-limits/limits.js";
import type { PermissionOperations } from "./roles/operations.js";
import type { RootKeyOperations } from "./root-keys/root-keys.js";
import type { StatisticsOperations } from "./statistics/verifications.js";
import type { SecretOperations } from "./verify-key/operations.js";
import type { WorkspaceOperations } from "./workspaces/workspaces.js";

/**
 * Every operation, in one workspace. Each answers its value or rejects with a LatchkeyError: beside the codes that it names,
 * `BAD_REQUEST` with every bad field of its input, `STORE_UNAVAILABLE` when the store does not answer, and `STORE_CORRUPT` for a
 * record that is damaged.
 */
export interface Operations<Types extends LatchkeyTypes = DefaultTypes>
  extends ApiOperations,
    KeyOperations<Types>,
    KeyGrantOperations<Types>,
    SecretOperations<Types>,
    IdentityOperations<Types>,
    LimitOperations<Types>,
    PermissionOperations<Types>,
    RootKeyOperations,
    StatisticsOperations,
    AuditOperations,
    WorkspaceOperations {}

/** Name of an operation. */
export type OperationName = keyof Operations;

/**
 * Input of an operation, such as `InputOf<"createKey">`: what it is called with first. Never for one that takes nothing.
 *
 * `Types`: the names and metadata that the program knows, as in `Latchkey`.
 */
export type InputOf<
  Name extends OperationName,
  Types extends LatchkeyTypes = DefaultTypes,
> = Exclude<Parameters<Operations<Types>[Name]>[0], undefined>;
