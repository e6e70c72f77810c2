import type { OperationContext } from "./context.js";
import type { InputSchema } from "./input.js";

/** How an operation runs: as it is called, and bound to nothing yet. Of overloads it is the last, the most general one. */
export type Run<Operation extends (...args: never) => unknown> = (
  context: OperationContext,
  ...rest: Parameters<Operation>
) => ReturnType<Operation>;

/** How operations run, and what their inputs must be; null: one takes none, or checks it by itself. */
export type TableOf<
  Operations extends { readonly [Name in keyof Operations]: (...args: never) => unknown },
> = {
  readonly [Name in keyof Operations]: {
    readonly run: Run<Operations[Name]>;
    readonly input: InputSchema | null;
  };
};
