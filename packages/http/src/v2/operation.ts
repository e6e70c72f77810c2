import { type BesideInput, type InputSchema, LatchkeyError, type Operations } from "@latchkey/core";
import type { z } from "zod";
import type { Caller } from "../auth/callers.js";
import type { RequiredPermissions } from "../auth/required-permissions.js";
import { REQUEST_ID } from "../operations/examples.js";
import { type NameIn, type Operation, operationIn } from "../operations/operation.js";
import { OPERATIONS } from "../operations/table.js";

/** Names of operations of core that v1 serves. */
type Name = keyof Operations;

/** What an operation of v2 gets besides its input. */
interface Call<Carrier extends Name> {
  /**
   * Carries out the operation of v1, with everything that v1 checks by itself.
   *
   * @param find - Returns fields that replace those of `input`, such as the id for a name. A repeat uses the fields of the first call.
   */
  readonly carryOut: (
    input: Parameters<Operations[Carrier]>[0],
    find?: () => Promise<object>,
  ) => Promise<Awaited<ReturnType<Operations[Carrier]>>>;
  readonly latchkey: Caller["latchkey"];
  readonly permissions: Caller["permissions"];
}

/** One entry of the table of v2: an operation of v1, and how its input and response are written in v2. */
interface Definition<
  Carrier extends Name,
  Input extends InputSchema,
  Response extends z.ZodType<{ readonly meta: unknown }>,
> {
  /**
   * The operation of v1 that carries it out, if it has another name. It has the errors of v1, and unless given here, the summary and
   * required permissions of v1.
   */
  readonly operation?: Carrier;
  readonly summary?: string;
  readonly description?: string;
  /** Its fields have the bounds of v1, so that a mistake is found before anything is read, and is named as it was sent. */
  readonly input: Input;
  readonly response: Response;
  /** Without `meta`. */
  readonly example: {
    readonly input: z.input<Input>;
    readonly response: Omit<z.input<Response>, "meta">;
  };
  readonly acceptsList?: true;
  readonly isBulk?: true;
  /** A write that needs no `Idempotency-Key`, because it can be repeated anyway. */
  readonly isRepeatable?: false;
  readonly requiredPermissions?: (input: z.output<Input>) => RequiredPermissions;
  /** Path of a field in v1 → path of the same field here, for the issues that v1 finds. */
  readonly pathHere?: (path: string) => string;
}

/** Returns the body without `meta`. Gets the input as it was sent, checked. */
type Run<Carrier extends Name, Input extends InputSchema, Response extends z.ZodType> = (
  call: Call<Carrier>,
  input: z.input<Input>,
) => Promise<Omit<z.output<Response>, "meta">>;

/** Can be omitted if v1 accepts the input unchanged and returns `data`. */
type RunField<Carrier extends Name, Input extends InputSchema, Response extends z.ZodType> = ((
  input: Parameters<Operations[Carrier]>[0],
) => { data: Awaited<ReturnType<Operations[Carrier]>> }) extends (
  input: z.input<Input>,
) => Omit<z.output<Response>, "meta">
  ? { readonly run?: Run<Carrier, Input, Response> }
  : { readonly run: Run<Carrier, Input, Response> };

/**
 * Checks an entry against its schemas, and makes it an operation like those of v1.
 *
 * @param name - Last segment of the path: `keys.createKey`.
 */
export function defineV2<
  const Path extends string,
  Input extends InputSchema,
  Response extends z.ZodType<{ readonly meta: unknown }>,
  const Carrier extends Name = NameIn<Path>,
>(
  name: Path,
  definition: Definition<Carrier, Input, Response> & RunField<Carrier, Input, Response>,
): Operation {
  const asInV1 = async ({ carryOut }: Call<Carrier>, input: unknown) => ({
    data: await carryOut(input as Parameters<typeof carryOut>[0]),
  });
  const {
    run = asInV1 as unknown as Run<Carrier, Input, Response>,
    pathHere = (path: string) => path,
    example,
    operation = operationIn<Carrier>(name),
    ...described
  } = definition as Definition<Carrier, Input, Response> & {
    readonly run?: Run<Carrier, Input, Response>;
  };
  const carrier = operationOfV1(operation);
  return {
    method: "POST",
    isRepeatable: carrier.isRepeatable,
    ...(carrier.isVerification && { isVerification: true }),
    ...(carrier.headerFields !== undefined && { headerFields: carrier.headerFields }),
    summary: carrier.summary,
    errors: carrier.errors,
    ...(carrier.extraIssues !== undefined && { extraIssues: carrier.extraIssues }),
    requiredPermissions: carrier.requiredPermissions,
    ...described,
    name,
    operation,
    example: {
      input: example.input,
      response: { meta: { requestId: REQUEST_ID }, ...example.response },
    },
    run: async (caller, input, requestId, repeat) => {
      const { latchkey, permissions } = caller;
      const carryOut = async (inputOfV1: object, find?: () => Promise<object>) => {
        if (find === undefined) return carrier.run(caller, inputOfV1, requestId, repeat);
        if (repeat === undefined)
          return carrier.run(caller, { ...inputOfV1, ...(await find()) }, requestId);
        const complete = async (first: object | null) => first ?? find();
        return carrier.run(caller, inputOfV1, requestId, { ...repeat, complete } as BesideInput);
      };
      try {
        const body = await run(
          { carryOut: carryOut as Call<Carrier>["carryOut"], latchkey, permissions },
          input as z.input<Input>,
        );
        return { meta: { requestId }, ...body };
      } catch (error) {
        throw inWordsOfV2(error, pathHere);
      }
    },
  } as Omit<Operation, "requiredPermissions"> as Operation;
}

function operationOfV1(name: Name): Operation {
  const found = OPERATIONS.find(({ operation }) => operation === name);
  if (found === undefined) throw new TypeError(`v1 has no operation ${name}`);
  return found;
}

/** Only v1 checks rules across fields. This renames the fields in its issues. */
function inWordsOfV2(error: unknown, pathHere: (path: string) => string): unknown {
  if (!(error instanceof LatchkeyError) || error.code !== "BAD_REQUEST") return error;
  if (error.issues.length === 0) return error;
  const issues = error.issues.map(({ path, message }) => ({ path: pathHere(path), message }));
  const message = issues.map((issue) => `"${issue.path}" ${issue.message}`).join("; ");
  return new LatchkeyError("BAD_REQUEST", message, { issues, cause: error });
}
