import type { EpochMs, InputIssue, InputSchema, Latchkey, RootPermission } from "@latchkey/core";
import type { z } from "zod";
import type { PublicErrorCode } from "../routing/http-response.js";

/** Verb of an operation: reads are GET, the rest is POST. */
export type Method = "GET" | "POST";

/** What a query parameter stands for when it is not a string. */
export type QueryType = "integer" | "boolean";

/** Whose id a permission must name when it is not one for all of its kind. */
export type Subject =
  /** Nothing: only the form for all will do. */
  | { readonly kind: "none" }
  | { readonly kind: "api"; readonly apiId: string }
  /** Any API whatever: the operation itself looks no further than those. */
  | { readonly kind: "any-api" }
  /** The API of a key. */
  | { readonly kind: "key"; readonly keyId: string }
  /** The API of the key that a secret is of. */
  | { readonly kind: "secret"; readonly secret: string }
  /** A rate limit that belongs to no key. */
  | { readonly kind: "namespace"; readonly namespace: string }
  | {
      readonly kind: "identity";
      readonly identityId: string | undefined;
      readonly externalId: string | undefined;
    };

/** What a request needs: every permission, for all resources of its kind or for the subject. */
export interface RequiredPermissions {
  /** Each with a null id: the subject says which. */
  readonly permissions: readonly RootPermission[];
  readonly subject: Subject;
  /** What is needed as well, of other subjects. */
  readonly and?: readonly RequiredPermissions[];
  /**
   * What is needed besides where the record turns out to be of a certain kind, which the operation asks for itself. It is
   * named with the rest by every refusal, so that none tells what kind the record is of.
   */
  readonly conditional?: { readonly permission: RootPermission; readonly when: string };
}

/** Who asks: someone who may do what `permissions` say in one workspace. */
export interface Caller {
  readonly latchkey: Latchkey;
  readonly permissions: readonly string[];
}

/** A refusal that not every operation can answer with. */
export type OperationError = Extract<
  PublicErrorCode,
  "NOT_FOUND" | "CONFLICT" | "PRECONDITION_FAILED" | "DELETE_PROTECTED" | "STORE_UNAVAILABLE"
>;

/** One operation: everything that distinguishes it from the others. */
export interface OperationDefinition<Schema extends InputSchema, Answers extends z.ZodType> {
  /** Last segment of the path: `keys.createKey`. */
  readonly name: string;
  readonly method: Method;
  /** What it does, in a few words: a line of a list. */
  readonly summary: string;
  /** What a caller has to know beyond that, in Markdown; the needed permissions of the example are added to it. */
  readonly description?: string;
  /** What the operation takes, in the query of a GET and in the body of a POST. */
  readonly input: Schema;
  /** What no schema can see, given the raw input and the current instant. */
  readonly extraIssues?: (
    fields: Readonly<Record<string, unknown>>,
    now: EpochMs,
  ) => readonly InputIssue[];
  /** Query parameters that are no strings. */
  readonly query?: Readonly<Record<string, QueryType>>;
  /** The body is a list, and may be 16 times as long as other bodies: it stands for as many calls and more. */
  readonly acceptsList?: true;
  /** Headers that stand for a field of the input: field → name of the header. The body must not give it too. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Answered to everyone, without a look at who asks. */
  readonly isPublic?: true;
  /** A permission that is enough whatever the input: saves the busiest operation from being checked twice. */
  readonly sufficient?: RootPermission;
  /** Body of its success: exactly what is sent, in strict objects. Every test holds it to that. */
  readonly answers: Answers;
  /**
   * Codes that it refuses with beside those that every operation has. `STORE_UNAVAILABLE` goes without saying where
   * the caller has to be known.
   */
  readonly refusals: readonly OperationError[];
  /** What is sent and what comes back, with invented values. */
  readonly example: {
    readonly takes: Schema["_zod"]["input"];
    readonly answers: Answers["_zod"]["input"];
  };
  /** What the caller needs, given the checked input. */
  readonly requiredPermissions: (input: Schema["_zod"]["output"]) => RequiredPermissions;
  /** Does it. Checks the input again by itself: core trusts nobody. */
  readonly run: (
    caller: Caller,
    input: Schema["_zod"]["input"],
    requestId: string,
  ) => Promise<Answers["_zod"]["output"]>;
}

/** A {@link OperationDefinition} among others, its input and its answer known by their schemas alone. */
export type Operation = OperationDefinition<InputSchema, z.ZodType>;

/** Checks an operation's functions against its own schemas, then forgets which schemas those were. */
export function defineOperation<Schema extends InputSchema, Answers extends z.ZodType>(
  definition: OperationDefinition<Schema, Answers>,
): Operation {
  return definition as unknown as Operation;
}
