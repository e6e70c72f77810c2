import type { MemberMakers } from "../lib/lazy-members.js";
import type { InputSchema } from "../lib/parse-input.js";
import type { DeclaresTypes, DefaultTypes, LatchkeyTypes } from "../rules/latchkey-types.js";
import { afterLeases, isRelative, NO_WAITING } from "./after-leases.js";
import { API_TABLE, type ApiOperations } from "./apis/apis.js";
import type { OperationContext } from "./context.js";
import { AUDIT_TABLE, type AuditOperations } from "./events/audit-log.js";
import { NOTICE_TABLE, type NoticeOperations } from "./events/notice.js";
import { EVENT_TABLE, type EventOperations } from "./events/read-events.js";
import { IDENTITY_TABLE } from "./identities/identities.js";
import type { IdentityOperations } from "./identities/operations.js";
import { createKey, createKeyInput } from "./keys/create-key.js";
import { createKeys, createKeysInput } from "./keys/create-keys.js";
import { deleteKey } from "./keys/delete-key.js";
import { GRANT_TABLE, type KeyGrantOperations } from "./keys/grants.js";
import type { KeyOperations } from "./keys/operations.js";
import { READ_KEYS_TABLE } from "./keys/read-keys.js";
import { reencryptKeys } from "./keys/recovery.js";
import { rotateKey } from "./keys/rotate-key.js";
import type { KeySettingsInput, NewKeyInput } from "./keys/settings.js";
import { updateKey, updateKeys } from "./keys/update-key.js";
import { updateRemaining } from "./keys/update-remaining.js";
import { LEAK_TABLE, type LeakOperations } from "./leaks.js";
import { MANY_KEYS_TABLE } from "./many-keys/many-keys.js";
import type { ManyKeysOperations } from "./many-keys/operations.js";
import type { TableOf } from "./operation.js";
import type { PortalOperations } from "./portal-sessions/operations.js";
import { PORTAL_TABLE } from "./portal-sessions/portal-sessions.js";
import { LIMIT_TABLE, type LimitOperations } from "./rate-limits.js";
import { repeatable } from "./repeats/repeatable.js";
import { NOT_REPEATABLE, type Repeatable } from "./repeats/repetition-input.js";
import type { ReservationOperations } from "./reservations/operations.js";
import { RESERVATION_TABLE } from "./reservations/reservations.js";
import type { PermissionOperations } from "./roles/operations.js";
import { PERMISSION_TABLE } from "./roles/roles.js";
import type { RootKeyOperations } from "./root-keys/operations.js";
import { ROOT_KEY_TABLE } from "./root-keys/root-keys.js";
import { STATISTICS_TABLE, type StatisticsOperations } from "./statistics.js";
import { TOKEN_TABLE, type TokenOperations } from "./tokens.js";
import { verifyKeyInput } from "./verify-key/input.js";
import type { SecretOperations } from "./verify-key/operations.js";
import { explainKey, verifyKey } from "./verify-key/verify-key.js";
import {
  type SetWorkspaceEnabledInput,
  WORKSPACE_TABLE,
  type WorkspaceOperations,
} from "./workspaces.js";

/**
 * Every operation, in one workspace. Besides the codes that it names, each can reject with `BAD_REQUEST` for wrong fields of its input,
 * `STORE_UNAVAILABLE` if the store does not answer, and `STORE_CORRUPT` for a damaged record.
 */
export interface Operations<Types extends LatchkeyTypes = DefaultTypes>
  extends Repeatable<PlainOperations<Types>> {}

/** Every operation, without `idempotencyKey`. */
export interface PlainOperations<Types extends LatchkeyTypes = DefaultTypes>
  extends ApiOperations<Types>,
    KeyOperations<Types>,
    KeyGrantOperations<Types>,
    ManyKeysOperations<Types>,
    SecretOperations<Types>,
    ReservationOperations<Types>,
    TokenOperations<Types>,
    LeakOperations,
    IdentityOperations<Types>,
    LimitOperations<Types>,
    PermissionOperations<Types>,
    RootKeyOperations,
    PortalOperations<Types>,
    StatisticsOperations,
    AuditOperations,
    EventOperations,
    NoticeOperations,
    WorkspaceOperations {}

/** Name of an operation. */
export type OperationName = keyof Operations;

/**
 * Input of an operation, such as `InputOf<"createKey">`: its first argument, or never if it has none.
 *
 * `Types`: the declared names and metadata, as in `Latchkey`, or the type of a latchkey that has them: `InputOf<"createKey", typeof latchkey>`.
 */
export type InputOf<
  Name extends OperationName,
  Types extends LatchkeyTypes | DeclaresTypes = DefaultTypes,
> = Exclude<Parameters<Operations<TypesIn<Types>>[Name]>[0], undefined>;

/** The declared names and metadata of a latchkey, or these themselves. */
type TypesIn<Types> = Types extends LatchkeyTypes
  ? Types
  : Types extends DeclaresTypes<infer Declared>
    ? Declared
    : never;

const TABLE = {
  ...API_TABLE,
  createKey: { run: createKey, input: createKeyInput },
  createKeys: { run: createKeys, input: createKeysInput },
  verifyKey: { run: verifyKey, input: verifyKeyInput },
  explainKey,
  ...RESERVATION_TABLE,
  ...TOKEN_TABLE,
  ...READ_KEYS_TABLE,
  updateKey,
  updateKeys,
  updateRemaining,
  rotateKey,
  ...GRANT_TABLE,
  deleteKey,
  ...MANY_KEYS_TABLE,
  reencryptKeys,
  ...LEAK_TABLE,
  ...IDENTITY_TABLE,
  ...LIMIT_TABLE,
  ...PERMISSION_TABLE,
  ...ROOT_KEY_TABLE,
  ...PORTAL_TABLE,
  ...STATISTICS_TABLE,
  ...AUDIT_TABLE,
  ...EVENT_TABLE,
  ...NOTICE_TABLE,
  ...WORKSPACE_TABLE,
} satisfies TableOf<PlainOperations>;

export type Table = typeof TABLE;

/** Input of an operation as an object, over the wire; never if there is none. */
type OperationInput<Name extends OperationName> = Name extends "setWorkspaceEnabled"
  ? SetWorkspaceEnabledInput
  : Name extends "createKey"
    ? NewKeyInput
    : Extract<InputOf<Name>, object>;

/** Output of an input's schema, as far as other packages use it. */
type CheckedInput<Name extends OperationName> = Name extends "createKeys"
  ? readonly KeySettingsInput[]
  : Name extends "limit"
    ? OperationInput<Name> & { readonly namespace: string }
    : OperationInput<Name>;

/** The schema of each operation's input; null if it has none. The HTTP API is generated from it. */
export const OPERATIONS: {
  readonly [Name in OperationName]: {
    readonly input: [OperationInput<Name>] extends [never]
      ? null
      : InputSchema<OperationInput<Name>, CheckedInput<Name>>;
  };
} = TABLE;

/** Whether an operation takes an `idempotencyKey`. */
export function isRepeatable(name: OperationName): boolean {
  return !(NOT_REPEATABLE as readonly string[]).includes(name);
}

/** Wraps an operation so that it resolves only when no process contradicts its result any more. */
function waiting(
  { awaitLeases, workspaceId }: OperationContext,
  call: (input: unknown, scope: unknown) => unknown,
) {
  return (input: unknown, scope: unknown) => {
    const isAtOnce = isRelative(input);
    const running = call(input, scope) as Promise<unknown>;
    return isAtOnce ? running : afterLeases(running, () => awaitLeases(workspaceId));
  };
}

/** How each operation is bound to a context. */
export const OPERATION_MAKERS = Object.fromEntries(
  Object.entries(TABLE).map(([name, { run: runOwn, input: schema }]) => {
    const run = runOwn as (context: OperationContext, ...rest: readonly unknown[]) => unknown;
    const isWrite = isRepeatable(name as OperationName);
    const takesAway = (isWrite || name === "reportLeaks") && !NO_WAITING.has(name);
    const make = (context: OperationContext) => {
      const call = isWrite
        ? repeatable(context, name, schema, run)
        : // No operation takes more than an input and a scope; rest parameters would cost every call.
          (input: unknown, scope: unknown) => run(context, input, scope);
      return takesAway ? waiting(context, call) : call;
    };
    return [name, make];
  }),
) as unknown as MemberMakers<Operations, OperationContext>;
