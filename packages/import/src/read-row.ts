import { type Columns, isObject } from "./columns.js";
import { FIELDS, INFORMATION } from "./fields.js";
import type { CheckedKeyMap, ColumnTarget } from "./key-map.js";
import { readValue } from "./read-value.js";
import type { IdentitySettings, ImportRow, RowIssue } from "./row.js";

/** Algorithm of a hash by its length: no two have the same. */
const VARIANTS: ReadonlyMap<number, string> = new Map([
  [43, "sha256_base64url"],
  [44, "sha256_base64"],
  [64, "sha256_hex"],
]);

const NO_HASH =
  "is not a SHA-256 hash, which has 64 digits in hexadecimal, 44 characters in base64, 43 in base64url without padding";

/** Converts columns to rows. `ignored` is called with every column that maps to no field. */
export function rowReader(map: CheckedKeyMap, ignored: (column: string) => void = () => undefined) {
  const paths = [...map.columns].filter(([column]) => column.includes("."));

  return (number: number, columns: Columns): ImportRow => {
    const issues: RowIssue[] = [];
    const fields: Fields = {};
    const read = (target: ColumnTarget, value: unknown) => {
      if (value === undefined || value === null || value === "") return;
      const { field, unit } = target;
      const isPlainHash = field === "hash" && typeof value === "string" && !/^\s*\{/.test(value);
      const result = isPlainHash
        ? { value: { value } }
        : readValue(value, FIELDS.get(field) ?? "text", unit);
      if ("message" in result) issues.push({ field, message: result.message });
      else setField(fields, field, result.value);
    };
    for (const [column, value] of Object.entries(columns)) {
      const target = map.columns.get(column);
      if (target === null) continue;
      if (target !== undefined) read(target, value);
      else if (FIELDS.has(column)) read({ field: column }, value);
      else if (!INFORMATION.has(column) && !paths.some(([path]) => path.startsWith(`${column}.`)))
        ignored(column);
    }
    for (const [path, target] of paths)
      if (target !== null && !Object.hasOwn(columns, path)) read(target, valueAt(columns, path));
    for (const [field, value] of map.values)
      if (fieldAt(fields, field) === undefined) setField(fields, field, value);
    return { ...toRow(number, fields, issues), id: idOf(columns) };
  };
}

type Fields = Record<string, unknown>;

/** Assembles fields into a row: fields of the API and of the owner are separated, and a hash gets its algorithm. */
export function toRow(
  number: number,
  fields: Columns,
  issues: readonly RowIssue[] = [],
): ImportRow {
  const { api, identity, hash, ...others } = fields;
  const key: Fields = others;
  const found = [...issues];
  if (isObject(hash)) {
    const { pepper, ...plain } = hash;
    if (pepper !== undefined)
      found.push({
        field: "hash.pepper",
        message: "is a peppered hash, which only a latchkey with that pepper can verify",
      });
    const { value } = plain;
    const variant = plain.variant ?? VARIANTS.get(typeof value === "string" ? value.length : 0);
    key.hash = { ...plain, variant };
    if (variant === undefined) found.push({ field: "hash.value", message: NO_HASH });
  } else if (hash !== undefined) key.hash = hash;
  else if (key.plaintext === undefined && !found.some(({ field }) => field.startsWith("hash")))
    found.push({
      field: "hash",
      message: "is missing, and so is plaintext: nothing could verify the key",
    });
  return {
    number,
    key,
    api: typeof api === "string" ? api : undefined,
    identity: isObject(identity) ? (identity as IdentitySettings) : undefined,
    issues: found,
    notes: [],
  };
}

/** Id of the key in the source. */
export function idOf({ id }: Columns): string | undefined {
  return (typeof id === "string" && id !== "") || typeof id === "number" ? String(id) : undefined;
}

/** Sets a field by its name, which has at most two levels. */
function setField(fields: Fields, field: string, value: unknown): void {
  const [outer, inner] = field.split(".") as [string, string | undefined];
  if (inner === undefined)
    fields[outer] = isObject(value) ? { ...value, ...innerOf(fields, outer) } : value;
  else fields[outer] = { ...innerOf(fields, outer), [inner]: value };
}

function fieldAt(fields: Columns, field: string): unknown {
  const [outer, inner] = field.split(".") as [string, string | undefined];
  return inner === undefined ? fields[outer] : innerOf(fields, outer)[inner];
}

function innerOf(fields: Columns, outer: string): Columns {
  const value = Object.hasOwn(fields, outer) ? fields[outer] : undefined;
  return isObject(value) ? value : {};
}

function valueAt(columns: Columns, path: string): unknown {
  let value: unknown = columns;
  for (const part of path.split("."))
    value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return value;
}
