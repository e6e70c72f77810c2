import type { JsonValue } from "../../lib/json.js";

/** Operations that write nothing, and verifications: those are repeated by their `requestId`, or by what they ended. A leak is repeated by its report, and another session of a portal is as good. */
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

/** What every write takes. */
export interface RepeatableInput {
  /**
   * Makes the write safe to send again: for 24 hours the same key from the same actor, with the same input, answers the same and
   * writes nothing. 1 to 128 characters; another one for each write.
   */
  readonly idempotencyKey?: string | undefined;
}

/** For hosts that authorise callers themselves. */
export interface RepeatScope {
  /** Asked before a call writes that is no repeat; throws where the caller may not do that. */
  readonly beforeFirst?: (() => void) | undefined;
  /** Whether the secret of a recoverable key of this API may be answered again: it may unless given. */
  readonly mayDecrypt?: ((apiId: string) => boolean) | undefined;
  /**
   * Makes further fields of the input of what was typed, such as an id of a name, or an instant of a span from now on. A repeat is given
   * those of the first call, and answers them: they do not count for whether the input is the same.
   */
  readonly complete?: ((first: MadeFields | null) => Promise<MadeFields>) | undefined;
}

/** Fields of an input. */
export type MadeFields = Readonly<Record<string, JsonValue>>;

/** An answer that holds a secret. */
interface WithSecret {
  /** The secret. */
  readonly key: string;
}

/** An answer of a repeat: its secret was answered before, and is not known any more. */
export type SecretShownBefore<Answer> = Omit<Answer, "key"> & {
  /** Absent. */
  readonly key?: undefined;
  /** The secret was in the answer to the first call. */
  readonly secretShownBefore: true;
};

/** What a call with an `idempotencyKey` answers. */
export type RepeatableAnswer<Answer> = Answer extends WithSecret
  ?
      | (Answer & {
          /** Absent. */
          readonly secretShownBefore?: undefined;
        })
      | SecretShownBefore<Answer>
  : Answer;

/** What a write takes beside an input that is no object. */
export interface BesideInput extends RepeatableInput, Omit<RepeatScope, "complete"> {}

/**
 * A write, as it is called. Methods and no functions: a latchkey that knows names must stand for one that does not.
 */
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

/** Operations, with `idempotencyKey` in every write. Those of several forms say it themselves. */
export type Repeatable<All> = {
  [Name in keyof All]: Name extends (typeof NOT_REPEATABLE)[number] | "createKeys"
    ? All[Name]
    : RepeatableRun<All[Name]>;
};
