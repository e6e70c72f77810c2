import {
  type EpochMs,
  isRepeatable,
  type Latchkey,
  type OperationName,
  type Operations,
} from "@latchkey/core";
import type { Command } from "commander";
import { UsageError } from "./failures.js";
import {
  addFields,
  type Field,
  fieldName,
  fieldValue,
  optionName,
  toCamelCase,
  typedValue,
} from "./fields.js";
import type { AddCommand } from "./help.js";
import { clockOf, type Host } from "./host.js";
import { idsOf, withIds } from "./named-ids.js";
import {
  addJsonOption,
  type Cell,
  type Column,
  type JsonOption,
  printLine,
  printRecord,
  printRows,
} from "./output.js";
import { changeCounter, lookedLines } from "./progress.js";
import { addRepeatOption, type Input, perform, type RepeatOption } from "./repeats.js";
import {
  addStoreOptions,
  addWorkspaceOption,
  type StoreOptions,
  type StoreUse,
  type WorkspaceOption,
  withLatchkey,
} from "./store-options.js";
import { instantsOf, list } from "./values.js";

export type { Input };

/** The values of the options that every command with a store has. */
export type CommonOptions = StoreOptions & WorkspaceOption & JsonOption;

type Answer<Name extends OperationName> = Awaited<ReturnType<Operations[Name]>>;

/** A command that calls one operation. Its arguments and options are fields of the operation's input, which core checks. */
export interface OperationCommand<Name extends OperationName> {
  readonly name: string;
  readonly text: string;
  readonly operation: Name;
  /** The arguments, as commander takes them: `<keyId>`; each sets the field of that name. */
  readonly args?: readonly string[];
  readonly fields?: readonly Field[];
  /** Fields of the input that the command sets itself. */
  readonly fixed?: Input;
  /** Whether `--clear` removes values: null in the input. */
  readonly canClear?: boolean;
  /** Whether it deletes something: on a terminal, this needs `--yes`. */
  readonly deletes?: boolean;
  /** What it is going to do, to be confirmed; null: no confirmation, except for `deletes`. */
  readonly announce?: (latchkey: Latchkey, input: Input) => Promise<string | null>;
  /** Default: `existing`. */
  readonly use?: StoreUse;
  /** Further fields of the input, derived from those given and from the store. */
  readonly completed?: (latchkey: Latchkey, input: Input) => Promise<Input>;
  /** Further fields of the output. */
  readonly also?: (latchkey: Latchkey, answer: Answer<Name>) => Promise<object>;
  /** What to print: one line, or the fields of a record. */
  readonly print: (
    answer: Answer<Name>,
    input: Input,
    outcome: Outcome,
  ) => string | readonly (readonly [title: string, value: Cell])[];
}

/** What is known about a call besides its result. */
export interface Outcome {
  /** Whether anything was written. */
  readonly isChanged: boolean;
  /** Whether an earlier command had done it, or had started it. */
  readonly isRepeat: boolean;
  /** Unix epoch ms. */
  readonly now: EpochMs;
}

/** The output of an update. */
export function updateText(what: string, { isChanged, isRepeat }: Outcome): string {
  if (isRepeat && !isChanged) return `${what} was updated before`;
  return isChanged ? `${what} is changed` : `nothing to change: ${what} already has these values`;
}

/** Adds the options that every command with a store has. */
export function addCommonOptions(command: Command, use?: StoreUse): Command {
  return addJsonOption(addWorkspaceOption(addStoreOptions(command, use)));
}

/** A command that calls one operation. */
export function operationCommand<Name extends OperationName>(
  spec: OperationCommand<Name>,
): AddCommand {
  return (group, host) => addOperation(group, host, spec);
}

function addOperation<Name extends OperationName>(
  group: Command,
  host: Host,
  spec: OperationCommand<Name>,
): void {
  const { operation, fields = [], use = "existing", deletes = false, canClear = false } = spec;
  const command = addInput(group.command(spec.name).description(spec.text), spec.args, fields);
  if (canClear)
    command.option("--clear <list>", "options whose values are removed: name,meta", list);
  if (deletes || spec.announce !== undefined) addYesOption(command);
  if (isRepeatable(operation)) addRepeatOption(command);
  addCommonOptions(command, use).action(async () => {
    const options = command.opts<CommonOptions & RepeatOption & { clear?: string[] }>();
    if (deletes && spec.announce === undefined) confirm(command, host);
    const given = typedOf(command, fields);
    const away = cleared(options.clear ?? [], fields);
    const both = Object.keys(away).find((field) => field in given);
    if (both !== undefined)
      throw new UsageError(`--clear must not name "${both}", which is given a value`);
    const typed = { ...spec.fixed, ...given, ...away };
    // An update that changes nothing emits no event.
    const { onEvent, count } = changeCounter(host);
    await withLatchkey(
      options,
      host,
      async (latchkey) => {
        const made = async () => {
          const ids = await idsOf(latchkey, typed, command);
          const named = { ...typed, ...ids };
          const completed = await spec.completed?.(latchkey, named);
          const announced = (await spec.announce?.(latchkey, named)) ?? null;
          if (announced !== null) await agree(command, host, announced);
          else if (deletes) confirm(command, host);
          return { ...ids, ...completed };
        };
        const written = await perform(latchkey, operation, typed, options, host, made);
        const { answer, input, isRepeat } = written;
        const shown = { ...(answer as object), ...(await spec.also?.(latchkey, answer)) };
        const outcome = { isChanged: count() > 0, isRepeat, now: latchkey.now() };
        const printed = spec.print(shown as Answer<Name>, input, outcome);
        if (typeof printed !== "string") printRecord(host, options, shown, printed);
        else printLine(host, options, { ...input, ...shown }, printed);
      },
      use,
      { onEvent },
    );
  });
}

/** A command that lists all of something, page by page. */
export interface ListCommand<Item> {
  /** Default: `list`. */
  readonly name?: string;
  readonly text: string;
  readonly args?: readonly string[];
  readonly fields?: readonly Field[];
  /** Reads a page. `cursor` is absent for the first one. */
  readonly page: (
    latchkey: Latchkey,
    input: Input & { readonly cursor?: string },
  ) => Promise<{
    readonly items: readonly Item[];
    readonly cursor?: string | undefined;
    /** Damaged records that were left out. */
    readonly damaged?: number | undefined;
    /** Records read to find these. */
    readonly scanned?: number | undefined;
  }>;
  /** `now`: Unix epoch ms. */
  readonly columns: (now: EpochMs) => readonly Column<Item>[];
}

/** Adds a command `list`, or another one that lists. */
export function listCommand<Item>(spec: ListCommand<Item>): AddCommand {
  return (group, host) => addList(group, host, spec);
}

function addList<Item>(group: Command, host: Host, spec: ListCommand<Item>): void {
  const { name = "list", fields = [] } = spec;
  const command = addInput(group.command(name).description(spec.text), spec.args, fields);
  addCommonOptions(command).action(async () => {
    const options = command.opts<CommonOptions>();
    const typed = inputOf(command, fields, host);
    await withLatchkey(options, host, async (latchkey) => {
      const input = await withIds(latchkey, typed, command);
      const looked = lookedLines(host);
      let cursor: string | undefined;
      let damaged = 0;
      do {
        const page = await spec.page(latchkey, cursor === undefined ? input : { ...input, cursor });
        printRows(host, options, page.items, spec.columns(latchkey.now()));
        if (page.scanned !== undefined) looked(page.scanned);
        damaged += page.damaged ?? 0;
        cursor = page.cursor;
      } while (cursor !== undefined);
      if (damaged > 0) host.warn(`${damaged} more cannot be read`);
    });
  });
}

/** Adds arguments and options that are fields of an input. */
export function addInput(
  command: Command,
  args: readonly string[] = [],
  fields: readonly Field[] = [],
): Command {
  for (const name of args) command.argument(name, ARGUMENTS[name.slice(1, -1)]);
  addFields(command, fields);
  return command;
}

/** Help for arguments whose names do not explain them. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  apiId: "id or name of an API",
  roleId: "id or name of a role",
  permissionId: "id or name of a permission",
  externalId: "your own id of a user, 1 to 255 characters",
};

/** The values of the arguments of a command and of these fields, with instants instead of spans from now on. */
export function inputOf(command: Command, fields: readonly Field[], host: Host): Input {
  const typed = typedOf(command, fields);
  return { ...typed, ...instantsOf(typed, clockOf(host)()) };
}

/** The values of the arguments of a command and of these fields. */
export function typedOf(command: Command, fields: readonly Field[]): Input {
  const values = command.opts();
  const given: Record<string, unknown> = {};
  for (const [at, argument] of command.registeredArguments.entries())
    if (command.processedArgs[at] !== undefined) given[argument.name()] = command.processedArgs[at];
  for (const field of fields) {
    const value = typedValue(field, values);
    if (value !== undefined) given[fieldName(field)] = fieldValue(field, value);
  }
  return given;
}

/** Adds the option that a deletion needs on a terminal. */
export function addYesOption(command: Command): Command {
  return command.option("--yes", "confirm; needed on a terminal");
}

/**
 * Says what will be done, and on a terminal without `--yes`, asks for confirmation.
 *
 * @throws UsageError if the answer is not yes, or nobody can be asked.
 */
export async function agree(command: Command, host: Host, announced: string | null): Promise<void> {
  if (announced === null) return;
  host.warn(announced);
  if (host.terminal === null || command.opts<{ yes?: true }>().yes !== undefined) return;
  if (!host.asks) throw new UsageError("add --yes to do it");
  const answer = await host.readInput("Type yes to do it: ");
  if (answer.trim() !== "yes") throw new UsageError("nothing was done: the answer was not yes");
}

/** @throws UsageError on a terminal without `--yes`. */
export function confirm(command: Command, { terminal }: Host): void {
  if (terminal !== null && command.opts<{ yes?: true }>().yes === undefined)
    throw new UsageError("this cannot be undone: add --yes to do it");
}

function cleared(names: readonly string[], fields: readonly Field[]): Input {
  const known = fields.map(optionName);
  return Object.fromEntries(
    names.map((name) => {
      const field = toCamelCase(name);
      if (known.includes(field)) return [field, null];
      throw new UsageError(`--clear must be a list of options of this command, such as name,meta`);
    }),
  );
}
