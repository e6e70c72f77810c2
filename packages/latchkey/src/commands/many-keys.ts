import type { KeysReference, Latchkey } from "@latchkey/core";
import { UsageError } from "../command-line/failures.js";
import type { Field } from "../command-line/fields.js";
import type { AddCommand } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { idsOf } from "../command-line/named-ids.js";
import {
  addCommonOptions,
  addInput,
  addYesOption,
  agree,
  type CommonOptions,
  confirm,
  typedOf,
} from "../command-line/operations.js";
import { printLine } from "../command-line/output.js";
import { changeCounter, progressLines } from "../command-line/progress.js";
import {
  addRepeatOption,
  type Input,
  perform,
  type RepeatOption,
} from "../command-line/repeats.js";
import { withLatchkey } from "../command-line/store-options.js";
import { list } from "../command-line/values.js";
import { plural } from "../command-line/words.js";

/** Options that select many keys. */
const WHICH: readonly Field[] = [
  { flags: "--external-id <id>", text: "all keys of a user, by your own id", old: "--owner" },
  { flags: "--api-id <id>", text: "all keys of an API, by its id or name", old: "--api" },
  { flags: "--keys <list>", text: "these keys, by their ids", field: "keyIds", read: list },
];

/** A command on one key or on many. */
interface KeysCommand {
  readonly name: "delete" | "disable" | "enable";
  readonly text: string;
  /** The verb in "this deletes 3 keys". */
  readonly does: string;
  /** The operation for one key. `settings`: further input fields besides the id, also printed by `--json`. */
  readonly one: "updateKey" | "deleteKey";
  readonly settings?: Input;
  readonly many: "deleteKeys" | "disableKeys" | "enableKeys";
}

/** A command that takes the id of one key, or options that select many. */
export function keysCommand(spec: KeysCommand): AddCommand {
  return (group, host) => {
    const command = addInput(group.command(spec.name).description(spec.text), ["[keyId]"], WHICH);
    addCommonOptions(addYesOption(addRepeatOption(command))).action(async () => {
      const options = command.opts<CommonOptions & RepeatOption>();
      const { keyId, ...typed } = typedOf(command, WHICH) as Typed;
      const isOne = keyId !== undefined;
      if (isOne === Object.keys(typed).length > 0)
        throw new UsageError("either <keyId> or --external-id, --api-id or --keys is required");
      if (isOne && spec.name === "delete") confirm(command, host);
      const print = (shown: object, text: string) => printLine(host, options, shown, text);
      const change = async (latchkey: Latchkey) => {
        if (isOne) {
          await perform(latchkey, spec.one, { keyId, ...spec.settings }, options, host);
          return print({ keyId, ...spec.settings }, `key ${keyId} is ${spec.name}d`);
        }
        const made = async () => {
          const ids = await idsOf(latchkey, typed, command);
          const meant = await meantKeys(latchkey, { ...typed, ...ids }, host);
          await agree(command, host, `this ${spec.does} ${meant}`);
          return ids;
        };
        const { answer, input } = await perform(
          latchkey,
          spec.many,
          { ...typed },
          options,
          host,
          made,
        );
        const [count = 0, damaged = 0] = Object.values(answer);
        if (damaged > 0) host.warn(`${plural(damaged, "key")} cannot be read: left unchanged`);
        print(
          { ...input, ...answer },
          `${plural(count, "key")} ${count === 1 ? "is" : "are"} ${spec.name}d`,
        );
      };
      const { onEvent } = changeCounter(host);
      await withLatchkey(options, host, change, "existing", { onEvent });
    });
  };
}

interface Typed extends KeysReference {
  readonly keyId?: string;
}

/** The selected keys in words, with their current number. */
async function meantKeys(latchkey: Latchkey, which: KeysReference, host: Host): Promise<string> {
  const { keyIds, ...owner } = which;
  const { apiId, externalId } = owner;
  if (keyIds !== undefined) return `${plural(keyIds.length, "key")}, as far as they exist`;
  if (apiId !== undefined && externalId === undefined)
    return `all ${plural((await latchkey.listKeys({ apiId, limit: 1 })).total, "key")} of API ${apiId}`;
  const show = progressLines(host);
  let count = 0;
  for await (const _ of latchkey.keysOf(owner)) {
    count += 1;
    if (count % 100 === 0) show(() => `${plural(count, "key")} found so far`);
  }
  const where = apiId === undefined ? "in all APIs" : `in API ${apiId}`;
  return `all ${plural(count, "key")} of ${externalId} ${where}`;
}
