import { API_TABLE } from "./apis/apis.js";
import { AUDIT_TABLE } from "./audit-log/audit-log.js";
import type { OperationContext } from "./context.js";
import { IDENTITY_TABLE } from "./identities/identities.js";
import type { InputSchema } from "./input.js";
import { createKey, createKeyInput } from "./keys/create-key.js";
import { createKeys, createKeysInput } from "./keys/create-keys.js";
import { DELETE_KEYS_TABLE } from "./keys/delete-keys.js";
import { GRANT_TABLE } from "./keys/grants.js";
import { READ_KEYS_TABLE } from "./keys/read-keys.js";
import { reencryptKeys } from "./keys/recovery.js";
import { rotateKey } from "./keys/rotate-key.js";
import type { KeySettingsInput } from "./keys/settings.js";
import { updateKey, updateKeyInput } from "./keys/update-key.js";
import { updateRemaining } from "./keys/update-remaining.js";
import type { TableOf } from "./operation.js";
import type { InputOf, OperationName, Operations } from "./operations.js";
import { LIMIT_TABLE } from "./rate-limits/limits.js";
import { PERMISSION_TABLE } from "./roles/permissions.js";
import { ROLE_TABLE } from "./roles/roles.js";
import { ROOT_KEY_TABLE } from "./root-keys/root-keys.js";
import { STATISTICS_TABLE } from "./statistics/verifications.js";
import { explainKey } from "./verify-key/dry-run.js";
import { verifyKeyInput } from "./verify-key/input.js";
import { verifyKey } from "./verify-key/verify-key.js";
import { type SetWorkspaceEnabledInput, WORKSPACE_TABLE } from "./workspaces/workspaces.js";

/** Every operation. */
const TABLE = {
  ...API_TABLE,
  createKey: { run: createKey, input: createKeyInput },
  createKeys: { run: createKeys, input: createKeysInput },
  verifyKey: { run: verifyKey, input: verifyKeyInput },
  explainKey,
  ...READ_KEYS_TABLE,
  updateKey: { run: updateKey, input: updateKeyInput },
  updateRemaining,
  rotateKey,
  ...GRANT_TABLE,
  ...DELETE_KEYS_TABLE,
  reencryptKeys,
  ...IDENTITY_TABLE,
  ...LIMIT_TABLE,
  ...PERMISSION_TABLE,
  ...ROLE_TABLE,
  ...ROOT_KEY_TABLE,
  ...STATISTICS_TABLE,
  ...AUDIT_TABLE,
  ...WORKSPACE_TABLE,
} satisfies TableOf<Operations>;

/** Every operation with its own types. */
export type Table = typeof TABLE;

/** What an operation takes, as an object; never for one that takes none, or no object. */
type OperationInput<Name extends OperationName> = Name extends "setWorkspaceEnabled"
  ? SetWorkspaceEnabledInput
  : Extract<InputOf<Name>, object>;

/** What the schema of an input answers, as far as it is known outside of core. */
type CheckedInput<Name extends OperationName> = Name extends "createKeys"
  ? readonly KeySettingsInput[]
  : Name extends "limit"
    ? OperationInput<Name> & { readonly namespace: string }
    : OperationInput<Name>;

/** The schema of what each operation takes, by its name: what is served over HTTP is made from it. Null: it takes none. */
export const OPERATIONS: {
  readonly [Name in OperationName]: {
    readonly input: [OperationInput<Name>] extends [never]
      ? null
      : InputSchema<OperationInput<Name>, CheckedInput<Name>>;
  };
} = TABLE;

/** Binds every operation to its workspace and to what all of them work with. */
export function bindOperations(context: OperationContext): Operations {
  const bound = Object.entries(TABLE).map(([name, operation]) => {
    const run = operation.run as (context: OperationContext, ...rest: unknown[]) => unknown;
    // No operation takes more than an input and a scope, and to gather and spread them would cost every call.
    return [name, (input: unknown, scope: unknown) => run(context, input, scope)];
  });
  return Object.fromEntries(bound) as Operations;
}
