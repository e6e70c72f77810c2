import { type Columns, isObject } from "../columns.js";
import { idOf, toRow } from "../read-row.js";
import type { ImportRow, RowIssue } from "../row.js";
import { jsonLinesOf, unreadableRow } from "./json-lines.js";

/** The imported fields of an Unkey key. The others have no use here, or repeat these. */
const FIELDS = [
  "apiId",
  "start",
  "name",
  "externalId",
  "ownerId",
  "meta",
  "roles",
  "permissions",
  "createdAt",
  "expires",
  "enabled",
  "remaining",
  "refill",
  "ratelimit",
  "ratelimits",
  "environment",
  "hash",
  "plaintext",
];

/**
 * Keys in a file of JSON lines, each a response of Unkey's API: of `keys.getKey`, of `apis.listKeys`, or of `@unkey/api` around
 * either. Rows are numbered by key.
 */
export async function* unkeySource(pieces: AsyncIterable<string>): AsyncGenerator<ImportRow> {
  let number = 0;
  for await (const line of jsonLinesOf(pieces)) {
    const keys = "problem" in line ? [line.problem] : keysOf(line.value);
    for (const key of keys) {
      number += 1;
      if (isObject(key)) yield rowOf(number, key);
      else
        yield unreadableRow(
          number,
          `${typeof key === "string" ? key : "is not a key"} (line ${line.number})`,
        );
    }
  }
}

/** The keys of a response, however it is wrapped. */
function keysOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer.flatMap(keysOf);
  if (!isObject(answer)) return [answer];
  if (answer.error !== undefined) return ["is an error response from Unkey"];
  const inner = answer.result ?? answer.data ?? answer.keys;
  return inner === undefined ? [answer] : keysOf(inner);
}

function rowOf(number: number, key: Columns): ImportRow {
  const { identity, key: _secret, keyId: _id, ...rest } = key;
  const fields: Record<string, unknown> = {};
  for (const name of FIELDS)
    if (rest[name] !== undefined && rest[name] !== null && rest[name] !== "")
      fields[name] = rest[name];
  if (isObject(identity)) {
    fields.externalId ??= identity.externalId;
    if (isObject(identity.meta)) fields.identity = { meta: identity.meta };
  }
  const issues: RowIssue[] = [];
  const notes: RowIssue[] = [];
  const { hash, remaining, enabled } = fields;
  if (enabled === false && remaining === 0)
    notes.push({
      field: "enabled",
      message: "is false, so the key is switched off: if it was only used up, switch it on",
    });
  if (typeof hash === "string") fields.hash = { value: hash };
  else if (hash === undefined && fields.plaintext === undefined)
    issues.push({
      field: "hash",
      message:
        "is not in the response: ask Unkey for the hashes of your keys, or export recoverable keys with decrypt=true",
    });
  if (rest.deletedAt !== undefined && rest.deletedAt !== null)
    issues.push({ field: "deletedAt", message: "says that the key is deleted" });
  return { ...toRow(number, fields, issues), id: idOf(key), notes };
}
