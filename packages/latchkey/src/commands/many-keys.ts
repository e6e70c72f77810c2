import type {
  DeletedKeys,
  DisabledKeys,
  EnabledKeys,
  KeysReference,
  Latchkey,
} from "@latchkey/core";
import { UsageError } from "../command-line/failures.js";
import type { Field } from "../command-line/fields.js";
import { withIds } from "../command-line/named-ids.js";
import {
  type AddCommand,
  addCommonOptions,
  addInput,
  addYesOption,
  agree,
  type CommonOptions,
  confirm,
  inputOf,
} from "../command-line/operations.js";
import { withLatchkey } from "../command-line/store-options.js";
import { list } from "../command-line/values.js";

/** Which keys are meant, where it is not one. */
const WHICH: readonly Field[] = [
  { flags: "--owner <id>", text: "all keys of a user, by your own id", field: "externalId" },
  { flags: "--api <id>", text: "all keys of an API, by its id or name", field: "apiId" },
  { flags: "--keys <list>", text: "these keys, by their ids", field: "keyIds", read: list },
];

/** A command on one key or on many. */
interface KeysCommand {
  readonly name: "delete" | "disable" | "enable";
  readonly text: string;
  /** What it does, as in "this deletes 3 keys". */
  readonly does: string;
  /** Acts on one key. @returns What `--json` shows beside the id. */
  readonly one: (latchkey: Latchkey, keyId: string) => Promise<object>;
  /** @returns How many it changed, and then how many are damaged. */
  readonly many: (
    latchkey: Latchkey,
    which: KeysReference,
  ) => Promise<DeletedKeys | DisabledKeys | EnabledKeys>;
}

/** A command that takes the id of a key, or says in options which keys are meant. */
export function keysCommand(spec: KeysCommand): AddCommand {
  return (group, host) => {
    const command = addInput(group.command(spec.name).description(spec.text), ["[keyId]"], WHICH);
    addCommonOptions(addYesOption(command)).action(async () => {
      const options = command.opts<CommonOptions>();
      const { keyId, ...typed } = inputOf(command, WHICH, host) as Typed;
      const isOne = keyId !== undefined;
      if (isOne === Object.keys(typed).length > 0)
        throw new UsageError("either <keyId> or --owner, --api or --keys is required");
      if (isOne && spec.name === "delete") confirm(command, host);
      const print = (input: object, answer: object, text: string) =>
        host.print(options.json ? JSON.stringify({ ...input, ...answer }) : text);
      await withLatchkey(options, host, async (latchkey) => {
        if (isOne)
          return print({ keyId }, await spec.one(latchkey, keyId), `key ${keyId} is ${spec.name}d`);
        const which = await withIds(latchkey, { ...typed }, command);
        await agree(command, host, `this ${spec.does} ${await meantKeys(latchkey, which)}`);
        const answer = await spec.many(latchkey, which);
        const [count = 0, damaged = 0] = Object.values(answer);
        if (damaged > 0) host.warn(`${countOf(damaged)} cannot be read, and stays as it is`);
        print(which, answer, `${countOf(count)} ${count === 1 ? "is" : "are"} ${spec.name}d`);
      });
    });
  };
}

interface Typed extends KeysReference {
  readonly keyId?: string;
}

/** Which keys these are, and how many there are now. */
async function meantKeys(latchkey: Latchkey, which: KeysReference): Promise<string> {
  const { apiId, externalId, keyIds } = which;
  if (keyIds !== undefined) return `${countOf(keyIds.length)}, as far as they exist`;
  if (apiId !== undefined && externalId === undefined)
    return `all ${countOf((await latchkey.listKeys({ apiId, limit: 1 })).total)} of API ${apiId}`;
  let count = 0;
  for await (const id of apiId === undefined ? apiIds(latchkey) : [apiId])
    for await (const _ of latchkey.keysOf({
      apiId: id,
      ...(externalId !== undefined && { externalId }),
    }))
      count += 1;
  const where = apiId === undefined ? "in all APIs" : `in API ${apiId}`;
  return `all ${countOf(count)} of ${externalId} ${where}`;
}

async function* apiIds(latchkey: Latchkey): AsyncGenerator<string> {
  for await (const { id } of latchkey.apis()) yield id;
}

function countOf(count: number): string {
  return count === 1 ? "1 key" : `${count} keys`;
}
