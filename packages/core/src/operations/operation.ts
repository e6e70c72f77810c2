import type { z } from "zod";
import type { InputIssue } from "../errors.js";
import { type InputSchema, parseInput } from "../lib/parse-input.js";
import type { EpochMs } from "../time.js";
import { type OperationContext, transact, type Work } from "./context.js";

/** The function of an operation before it is bound to a context. For an overloaded one, it has the last and most general signature. */
export type Run<Operation extends (...args: never) => unknown> = (
  context: OperationContext,
  ...rest: Parameters<Operation>
) => ReturnType<Operation>;

/** The functions of operations and the schemas of their inputs; null: the operation takes no input, or checks it itself. */
export type TableOf<
  Operations extends { readonly [Name in keyof Operations]: (...args: never) => unknown },
> = {
  readonly [Name in keyof Operations]: {
    readonly run: Run<Operations[Name]>;
    readonly input: InputSchema | null;
  };
};

/** An {@link operation} that is one transaction. `run`: it may run several times. */
export function write<Schema extends InputSchema, Scope, Answer>(
  input: Schema,
  run: (work: Work, input: z.output<Schema>, scope: Scope | undefined) => Promise<Answer>,
  checks?: Pick<Checks<Schema>, "issuesAt">,
) {
  return operation(
    input,
    (context, parsed, scope: Scope | undefined) =>
      transact(context, (work) => run(work, parsed, scope)),
    checks,
  );
}

interface Checks<Schema extends InputSchema> {
  /** The default input. */
  readonly omitted?: z.input<Schema>;
  /** Issues that depend on the time. */
  readonly issuesAt?: (
    raw: Readonly<Record<string, unknown>>,
    now: EpochMs,
  ) => readonly InputIssue[];
}

/** An operation whose input is checked before it runs. */
export function operation<Schema extends InputSchema, Scope, Answer>(
  input: Schema,
  run: (
    context: OperationContext,
    input: z.output<Schema>,
    scope: Scope | undefined,
  ) => Promise<Answer>,
  { omitted, issuesAt }: Checks<Schema> = {},
) {
  return {
    input,
    run: (context: OperationContext, raw: unknown = omitted, scope?: Scope): Promise<Answer> => {
      let parsed: z.output<Schema>;
      try {
        parsed = parseInput(input, raw, issuesAt && ((given) => issuesAt(given, context.now())));
      } catch (error) {
        return Promise.reject(error);
      }
      return run(context, parsed, scope);
    },
  };
}
