import type { EpochMs, InputIssue, InputSchema, Latchkey, RootPermission } from "@latchkey/core";
import type { z } from "zod";
import type { RequiredPermissions } from "../auth/required-permissions.js";
import type { PublicErrorCode } from "../routing/http-response.js";

/** Verb of an operation: reads are GET, everything else is POST. */
export type Method = "GET" | "POST";

/** Type of a query parameter that is not a string. */
export type QueryType = "integer" | "boolean";

/** An authenticated caller: one workspace, and what the caller may do there. */
export interface Caller {
  readonly latchkey: Latchkey;
  readonly permissions: readonly string[];
}

/** Error codes that only some operations return. */
export type OperationError = Extract<
  PublicErrorCode,
  "NOT_FOUND" | "CONFLICT" | "PRECONDITION_FAILED" | "DELETE_PROTECTED" | "STORE_UNAVAILABLE"
>;

/** Operations of core that accept what `Schema` describes and return what `Response` describes. */
type OperationName<Schema extends InputSchema, Response extends z.ZodType> = {
  [Name in keyof Latchkey]: Latchkey[Name] extends (
    input: z.input<Schema>,
  ) => Promise<z.output<Response>>
    ? Name
    : never;
}[keyof Latchkey];

type Run<Schema extends InputSchema, Response extends z.ZodType> = (
  caller: Caller,
  input: z.input<Schema>,
  requestId: string,
) => Promise<z.output<Response>>;

type Call<Schema extends InputSchema, Response extends z.ZodType> = (
  input: z.input<Schema>,
) => Promise<z.output<Response>>;

/** Everything that HTTP knows of an operation, except how it is carried out. */
interface Description<Schema extends InputSchema, Response extends z.ZodType> {
  /** Last segment of the path: `keys.createKey`. */
  readonly name: string;
  readonly method: Method;
  /** What it does, in a few words. */
  readonly summary: string;
  /** What a caller has to know beyond that, in Markdown. The document adds the permissions. */
  readonly description?: string;
  /** Schema of the query of a GET and of the body of a POST. */
  readonly input: Schema;
  /** Finds what no schema can see. Gets the raw input, also when the schema refuses it. */
  readonly extraIssues?: (
    fields: Readonly<Record<string, unknown>>,
    now: EpochMs,
  ) => readonly InputIssue[];
  /** Query parameters that are not strings. */
  readonly queryTypes?: Readonly<Record<string, QueryType>>;
  /** The body is an array, which stands for many calls: it may be 16 times as long as other bodies. */
  readonly acceptsList?: true;
  /** Fields of the input that are sent in a header: field → header name. The body must not hold them. */
  readonly headerFields?: Readonly<Record<string, string>>;
  /** Open to everyone; credentials are not read. */
  readonly isPublic?: true;
  /**
   * A permission that allows the operation whatever the input. A caller who holds it skips the check of the input here,
   * since core checks it again: this halves the work of the busiest operation.
   */
  readonly sufficient?: RootPermission;
  /** Body of a success, exactly: strict objects. The tests hold every response against it. */
  readonly response: Response;
  /**
   * Error codes beside those that every operation can return. `STORE_UNAVAILABLE` is listed only where callers are not
   * authenticated; elsewhere it is implied.
   */
  readonly errors: readonly OperationError[];
  /** A request and its response, with invented values. */
  readonly example: { readonly input: z.input<Schema>; readonly response: z.input<Response> };
  /** The permissions that a caller must hold, given the checked input. */
  readonly requiredPermissions: (input: z.output<Schema>) => RequiredPermissions;
}

/** One entry of the table: a description, and an operation of core or a function that carries it out. */
export type OperationDefinition<
  Schema extends InputSchema,
  Response extends z.ZodType,
> = Description<Schema, Response> &
  (
    | { readonly operation: OperationName<Schema, Response>; readonly run?: undefined }
    | { readonly operation: keyof Latchkey | null; readonly run: Run<Schema, Response> }
  );

/** An entry among others, its types forgotten: what input and response are is known by their schemas alone. */
export interface Operation extends Description<InputSchema, z.ZodType> {
  /** Name of the operation in core; null for one that only HTTP has. */
  readonly operation: keyof Latchkey | null;
  /** Carries it out. Core checks the input again: it trusts nobody. */
  readonly run: Run<InputSchema, z.ZodType>;
}

/** Checks an entry against its own schemas, then forgets which ones those were. */
export function defineOperation<Schema extends InputSchema, Response extends z.ZodType>(
  definition: OperationDefinition<Schema, Response>,
): Operation {
  const { operation, run } = definition;
  const call: Run<Schema, Response> =
    run ??
    (({ latchkey }, input) => (latchkey[operation] as unknown as Call<Schema, Response>)(input));
  return { ...definition, run: call } as unknown as Operation;
}
