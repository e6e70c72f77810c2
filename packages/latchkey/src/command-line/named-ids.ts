import type { Latchkey } from "@latchkey/core";
import type { Command } from "commander";
import { UsageError } from "./failures.js";
import { typedNames } from "./fields.js";

/** What an id belongs to, and how it is found by name. */
interface Named {
  readonly id: string;
  readonly name: string;
}

/** Fields with an id of something that also has a name: the start of these ids, and a list of all. */
const NAMED: Readonly<
  Record<
    string,
    {
      readonly start: string;
      readonly all: (latchkey: Latchkey) => AsyncIterable<Named> | Promise<readonly Named[]>;
    }
  >
> = {
  apiId: { start: "api_", all: (latchkey) => latchkey.apis() },
  roleId: { start: "role_", all: (latchkey) => latchkey.listRoles() },
  permissionId: { start: "perm_", all: (latchkey) => latchkey.listPermissions() },
};

/** The minimum length of an id, without its start. Anything shorter is a name. */
const ID_BODY = /^[1-9A-HJ-NP-Za-km-z]{16,}$/;

/**
 * The ids for an input that contains names. A text in the form of an id is an id. An unknown name has no id: the operation then
 * reports that there is no such thing.
 *
 * @throws UsageError listing the ids, if several have the name.
 */
export async function idsOf(
  latchkey: Latchkey,
  input: Readonly<Record<string, unknown>>,
  command: Command,
): Promise<Readonly<Record<string, string>>> {
  const ids: Record<string, string> = {};
  for (const [field, { start, all }] of Object.entries(NAMED)) {
    const typed = input[field];
    if (typeof typed !== "string" || isId(typed, start)) continue;
    const found: string[] = [];
    for await (const { id, name } of await all(latchkey)) if (name === typed) found.push(id);
    if (found.length > 1)
      throw new UsageError(
        `${typedNames(command).get(field)} is the name of ${found.length}: give one of the ids ${found.join(", ")}`,
      );
    if (found[0] !== undefined) ids[field] = found[0];
  }
  return ids;
}

/** The input of a command with ids instead of names, as {@link idsOf} finds them. An unknown name stays as it is. */
export async function withIds<Fields extends Readonly<Record<string, unknown>>>(
  latchkey: Latchkey,
  input: Fields,
  command: Command,
): Promise<Fields> {
  return { ...input, ...(await idsOf(latchkey, input, command)) };
}

/** Whether a text has the form of an id that begins like this: `api_`. */
export function isId(text: string, start: string): boolean {
  return text.startsWith(start) && ID_BODY.test(text.slice(start.length));
}
