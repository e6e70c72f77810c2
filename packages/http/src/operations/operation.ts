import {
  type BesideInput,
  OPERATIONS as CORE_OPERATIONS,
  type EpochMs,
  type InputIssue,
  type InputSchema,
  isRepeatable,
  noInput,
  type OperationName,
  type Operations,
} from "@latchkey/core";
import type { z } from "zod";
import type { Caller } from "../auth/callers.js";
import type { RequiredPermissions } from "../auth/required-permissions.js";
import type { PublicErrorCode } from "../routing/http-response.js";
import { withFieldsWithoutEffect, withoutEffectless } from "./fields-without-effect.js";

/** Verb of an operation: reads are GET, everything else is POST. */
export type Method = "GET" | "POST";

/** Type of a query parameter that is not a string. */
export type QueryType = "integer" | "boolean" | "list";

/** Error codes that only some operations return. */
export type OperationError = Extract<
  PublicErrorCode,
  "NOT_FOUND" | "CONFLICT" | "PRECONDITION_FAILED" | "DELETE_PROTECTED" | "STORE_UNAVAILABLE"
>;

/** Schema of the input of an operation of core. */
type InputOf<Name extends OperationName> =
  (typeof CORE_OPERATIONS)[Name]["input"] extends infer Schema extends InputSchema
    ? Schema
    : typeof noInput;

type Run<Schema extends InputSchema, Response extends z.ZodType> = (
  caller: Caller,
  input: z.input<Schema>,
  requestId: string,
  repeat?: BesideInput,
) => Promise<z.output<Response>>;

/** What HTTP adds to an operation of core. */
interface Description<Schema extends InputSchema, Response extends z.ZodType> {
  /** What it does, in a few words. */
  readonly summary: string;
  /** What a caller must know beyond the summary, in Markdown. The document adds the permissions. */
  readonly description?: string;
  /** Finds issues that no schema can see. Gets the raw input, even if the schema refuses it. */
  readonly extraIssues?: (
    fields: Readonly<Record<string, unknown>>,
    now: EpochMs,
  ) => readonly InputIssue[];
  /** A field of the input that is optional in core, and required here. */
  readonly requiredField?: string;
  /** Types of the query parameters that are not strings. */
  readonly queryTypes?: Readonly<Record<string, QueryType>>;
  /** The body is an array. */
  readonly acceptsList?: true;
  /** The body is a form, `application/x-www-form-urlencoded`, instead of JSON. */
  readonly isForm?: true;
  /** It returns a verdict, even in a disabled workspace. */
  readonly isVerification?: true;
  /** The body has many items, so it may be 16 times as large as others. */
  readonly isBulk?: true;
  /** Fields of the input that are sent in a header: field → header name. The body must not contain them. */
  readonly headerFields?: Readonly<Record<string, string>>;
  /** How long the response may be cached publicly. Default: not at all. */
  readonly maxAgeSeconds?: number;
  /** Open to everyone; credentials are not read. */
  readonly isPublic?: true;
  /**
   * Whether the caller may do this, judged by fields that are not checked yet. If true, only core checks the input, which halves the work
   * of the busiest operation. If false or absent, {@link requiredPermissions} decides.
   */
  readonly isKnownAllowed?: (caller: Caller, fields: Readonly<Record<string, unknown>>) => boolean;
  /** Exact body of a success: strict objects. The tests check every response against it. */
  readonly response: Response;
  /** A request and its response, with invented values. */
  readonly example: { readonly input: z.input<Schema>; readonly response: z.input<Response> };
  /** The permissions that a caller must hold, given the checked input. */
  readonly requiredPermissions: (input: z.output<Schema>) => RequiredPermissions;
}

/** Carries out an operation; can be omitted if core returns exactly the response. */
type RunField<Name extends OperationName, Response extends z.ZodType> =
  Awaited<ReturnType<Operations[Name]>> extends z.output<Response>
    ? { readonly run?: Run<InputOf<Name>, Response> }
    : { readonly run: Run<InputOf<Name>, Response> };

/** What an entry may omit. */
interface Defaults {
  /** Default: POST. */
  readonly method?: Method;
  /**
   * Error codes in addition to those that every operation can return. `STORE_UNAVAILABLE` is listed only if callers are not
   * authenticated; elsewhere it is implied.
   */
  readonly errors?: readonly OperationError[];
}

/** The operation of core with the name of an entry: `createKey` for `keys.createKey`. */
export type NameIn<Path extends string> =
  Path extends `${string}.${infer Name extends OperationName}` ? Name : never;

/** One entry of the table: an operation of core, and what HTTP adds to it. */
export type OperationDefinition<
  Name extends OperationName,
  Response extends z.ZodType,
> = Description<InputOf<Name>, Response> &
  Defaults &
  RunField<Name, Response> & {
    /** The operation of core that carries it out and defines its input, if it has another name. */
    readonly operation?: Name;
  };

/** An entry without the types of its schemas. */
export interface Operation extends Description<InputSchema, z.ZodType>, Required<Defaults> {
  /** Last segment of the path: `keys.createKey`. */
  readonly name: string;
  /** Name of the operation in core; null for one that only HTTP has. */
  readonly operation: OperationName | null;
  /** Whether it accepts the header `Idempotency-Key`, so that it can be retried safely: every write does. */
  readonly isRepeatable: boolean;
  /** Schema of the query of a GET and of the body of a POST. */
  readonly input: InputSchema;
  /** Carries it out. Core checks the input again. */
  readonly run: Run<InputSchema, z.ZodType>;
}

/**
 * Checks an entry against the operation of core and against its own schemas.
 *
 * @param name - Last segment of the path.
 */
export function defineOperation<
  const Path extends string,
  Response extends z.ZodType,
  const Name extends OperationName = NameIn<Path>,
>(name: Path, definition: OperationDefinition<Name, Response>): Operation {
  const operation = definition.operation ?? operationIn<Name>(name);
  type Call = (input: unknown, beside?: BesideInput) => Promise<unknown>;
  const asInCore: Operation["run"] = ({ latchkey }, input, _, repeat) =>
    (latchkey[operation] as Call)(input, repeat);
  const { run: runOwn = asInCore, ...described } = definition as unknown as Operation;
  const own = withFieldsWithoutEffect(operation, CORE_OPERATIONS[operation].input ?? noInput);
  const input = withRequired(own, described.requiredField);
  const run: Operation["run"] = (caller, given, requestId, repeat) =>
    runOwn(caller, withoutEffectless(operation, given), requestId, repeat);
  const repeatable = isRepeatable(operation);
  const { method = "POST", errors = [] } = definition;
  return {
    ...described,
    name,
    operation,
    method,
    errors: withConflict(errors, repeatable),
    input,
    run,
    isRepeatable: repeatable,
  };
}

/** The operation of core with the name of an entry. */
export function operationIn<Name extends OperationName>(path: string): Name {
  return path.slice(path.lastIndexOf(".") + 1) as Name;
}

function withRequired(input: z.ZodType, field: string | undefined): z.ZodType {
  if (field === undefined) return input;
  const object = input as z.ZodObject<Record<string, z.ZodOptional>>;
  return object.safeExtend({ [field]: object.shape[field]?.unwrap() as z.ZodType });
}

/** Adds `CONFLICT` for a repeatable operation: an `Idempotency-Key` that is reused with another input is a conflict. */
function withConflict(
  errors: readonly OperationError[],
  repeatable: boolean,
): readonly OperationError[] {
  return !repeatable || errors.includes("CONFLICT") ? errors : [...errors, "CONFLICT"];
}

/** Checks an entry of an operation that core does not have. It takes no input unless a schema is given. */
export function defineHttpOnly<
  Response extends z.ZodType,
  Schema extends InputSchema = typeof noInput,
>(
  name: string,
  definition: Description<Schema, Response> &
    Defaults & { readonly input?: Schema; readonly run: Run<Schema, Response> },
): Operation {
  const defaults = { method: "POST", errors: [], input: noInput };
  const own = { name, operation: null, isRepeatable: false };
  return { ...defaults, ...definition, ...own } as unknown as Operation;
}
