import type { JsonValue } from "../../lib/json.js";

/** Operations without an `idempotencyKey`: they write nothing, have a `requestId`, or are harmless to repeat. */
export const NOT_REPEATABLE = [
  "getApi",
  "listApis",
  "verifyKey",
  "explainKey",
  "exchangeKey",
  "whoami",
  "reserve",
  "settle",
  "release",
  "renew",
  "listReservations",
  "reportLeaks",
  "getKey",
  "findApiOfKey",
  "listKeys",
  "getIdentity",
  "listIdentities",
  "limit",
  "getPermission",
  "listPermissions",
  "getRole",
  "listRoles",
  "listRootKeys",
  "authenticateRootKey",
  "createPortalSession",
  "revokePortalSession",
  "openPortalSession",
  "getVerifications",
  "exportUsage",
  "listAuditEvents",
  "readEvents",
  "getWorkspace",
  "listWorkspaces",
  "isWorkspaceEnabled",
] as const;

/** Field that every write takes. */
export interface RepeatableInput {
  /**
   * Makes the write safe to repeat: for 24 hours, the same key and input from the same actor return the same, and write nothing. 1 to 128
   * characters; use a new one for each write.
   */
  readonly idempotencyKey?: string | undefined;
}

/** For hosts that authorise callers themselves. */
export interface RepeatScope {
  /** Called before a write that is not a repeat; throws if the caller may not do it. */
  readonly beforeFirst?: (() => void) | undefined;
  /** Whether a repeat may return the secret of a recoverable key of this API. Default: yes. */
  readonly mayDecrypt?: ((apiId: string) => boolean) | undefined;
  /**
   * Adds fields to the input that are derived from it, such as the id for a name or a time for a duration. A repeat gets those of the first
   * call, and returns them; they are not compared.
   */
  readonly complete?: ((first: MadeFields | null) => Promise<MadeFields>) | undefined;
}

export type MadeFields = Readonly<Record<string, JsonValue>>;

interface WithSecret {
  /** The secret. */
  readonly key: string;
}

/** The result of a repeat: the secret was returned before, and is not stored. */
export type SecretShownBefore<Answer> = Omit<Answer, "key"> & {
  /** Absent. */
  readonly key?: undefined;
  /** The secret was in the result of the first call. */
  readonly secretShownBefore: true;
};

/** The result of a call with an `idempotencyKey`. */
export type RepeatableAnswer<Answer> = Answer extends WithSecret
  ?
      | (Answer & {
          /** Absent. */
          readonly secretShownBefore?: undefined;
        })
      | SecretShownBefore<Answer>
  : Answer;

/** Second argument of a write whose input is not an object. */
export interface BesideInput extends RepeatableInput, Omit<RepeatScope, "complete"> {}

/** The ways to call a write. Methods instead of functions, so that a latchkey with declared names is assignable to one without. */
interface Forms<Input, Scope, Answer> {
  beside(input: Input, beside?: BesideInput): Promise<Answer>;
  optional(input?: Input & RepeatableInput, scope?: Scope & RepeatScope): Promise<Answer>;
  usual(input: Input & RepeatableInput, scope?: Scope & RepeatScope): Promise<Answer>;
  withSecret(
    input: Input & { readonly idempotencyKey: string },
    scope?: Scope & RepeatScope,
  ): Promise<RepeatableAnswer<Answer>>;
  withSecret(input: Input & RepeatableInput, scope?: Scope & RepeatScope): Promise<Answer>;
}

type FormOf<Parts extends readonly unknown[], Answer> =
  Exclude<Parts[0], undefined> extends readonly unknown[] | boolean
    ? "beside"
    : undefined extends Parts[0]
      ? "optional"
      : Answer extends WithSecret
        ? "withSecret"
        : "usual";

type RepeatableRun<Operation> = Operation extends (...given: infer Parts) => Promise<infer Answer>
  ? Parts extends [input?: infer Input, scope?: infer Scope]
    ? Forms<Input, Scope, Answer>[FormOf<Parts, Answer>]
    : never
  : never;

/** Operations, with `idempotencyKey` in every write. Overloaded ones declare it themselves. */
export type Repeatable<All> = {
  [Name in keyof All]: Name extends (typeof NOT_REPEATABLE)[number] | "createKeys"
    ? All[Name]
    : RepeatableRun<All[Name]>;
};
