import type { Latchkey, OperationName, Operations } from "@latchkey/core";
import type { Command } from "commander";
import { clockOf, type Host } from "./host.js";
import { instantsOf } from "./values.js";

/** The arguments and options of a command, by the names of the input's fields. */
export type Input = Readonly<Record<string, unknown>>;

/** The value of {@link addRepeatOption}. */
export interface RepeatOption {
  readonly idempotencyKey?: string;
}

/** Adds the option with which a write can be repeated safely. */
export function addRepeatOption(command: Command): Command {
  return command.option(
    "--idempotency-key <text>",
    "for 24 hours, the same command with the same text prints the same and writes nothing again",
  );
}

/** The result of a write. */
interface Written<Name extends OperationName> {
  readonly answer: Awaited<ReturnType<Operations[Name]>>;
  readonly input: Input;
  /** Whether an earlier command with the same `--idempotency-key` had started it. */
  readonly isRepeat: boolean;
}

/**
 * Calls an operation with what was typed. First, names become ids, and spans from now on become instants. A repeat uses those of
 * the first call, even if the name no longer exists.
 *
 * @param made - The fields to derive from what was typed. Not called for a repeat.
 */
export async function perform<Name extends OperationName>(
  latchkey: Latchkey,
  operation: Name,
  typed: Input,
  { idempotencyKey }: RepeatOption,
  host: Host,
  made: () => Promise<Input> = async () => ({}),
): Promise<Written<Name>> {
  const make = async () => ({ ...instantsOf(typed, clockOf(host)()), ...(await made()) });
  // The schema of the operation checks the input.
  const run = latchkey[operation] as (
    input: Input,
    scope?: object,
  ) => Promise<Written<Name>["answer"]>;
  if (idempotencyKey === undefined) {
    const input = { ...typed, ...(await make()) };
    return { answer: await run(input), input, isRepeat: false };
  }
  let fields: Input = {};
  let isRepeat = false;
  const complete = async (first: Input | null) => {
    isRepeat ||= first !== null;
    fields = first ?? (await make());
    return fields;
  };
  const answer = await run({ ...typed, idempotencyKey }, { complete });
  if (isRepeat) warnOfRepeat(host);
  const { secretShownBefore } = answer as { readonly secretShownBefore?: true };
  if (secretShownBefore)
    host.warn(
      "the secret was shown the first time, and is not kept: rotate the key to get a new one",
    );
  return { answer, input: { ...typed, ...fields }, isRepeat };
}

/** Says on stderr that the result is that of an earlier command. */
export function warnOfRepeat(host: Host): void {
  host.warn(
    "this is the answer of an earlier command with the same --idempotency-key: nothing was done again",
  );
}
