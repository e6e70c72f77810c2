import { type Columns, isObject } from "./columns.js";
import { FIELDS } from "./fields.js";
import type { InstantUnit } from "./read-value.js";

/** The field of a column. */
export interface ColumnTarget {
  /** One of the fields that rows can set. */
  readonly field: string;
  /** For times given as numbers. Default: `ms`. */
  readonly unit?: InstantUnit | undefined;
}

/** How the columns of a file map to fields. Other columns map to the field of the same name, if there is one. */
export interface KeyMap {
  /** By column; for JSON also by path, such as `owner.id`. Null: the column is not read. */
  readonly columns?: Readonly<Record<string, string | ColumnTarget | null>> | undefined;
  /** Fields of rows that do not set them. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
}

/** A {@link KeyMap}, checked. */
export interface CheckedKeyMap {
  readonly columns: ReadonlyMap<string, ColumnTarget | null>;
  readonly values: ReadonlyMap<string, unknown>;
}

/**
 * Checks a map, as read from a file.
 *
 * @throws TypeError naming the mistake: a misspelt field would be missing from every key.
 */
export function checkKeyMap(map: unknown): CheckedKeyMap {
  const { columns = {}, values = {}, ...others } = objectOf(map, "the map");
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new TypeError(`"${other}" is not known: a map has only columns and values`);
  return {
    columns: new Map(
      Object.entries(objectOf(columns, '"columns"')).map(([column, target]) => [
        column,
        target === null ? null : checkTarget(target, `"columns.${column}"`),
      ]),
    ),
    values: new Map(
      Object.entries(objectOf(values, '"values"')).map(([field, value]) => [
        knownField(field, `"values.${field}"`),
        value,
      ]),
    ),
  };
}

function checkTarget(target: unknown, name: string): ColumnTarget {
  if (typeof target === "string") return { field: knownField(target, name) };
  const { field, unit = "ms", ...others } = objectOf(target, name);
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new TypeError(`${name} has "${other}": only field and unit are allowed`);
  if (typeof field !== "string") throw new TypeError(`${name} needs a field`);
  if (unit !== "ms" && unit !== "s") throw new TypeError(`${name} has a unit that is not ms or s`);
  return { field: knownField(field, name), unit };
}

function knownField(field: string, name: string): string {
  if (FIELDS.has(field)) return field;
  throw new TypeError(`${name} must name one of the fields ${[...FIELDS.keys()].join(", ")}`);
}

function objectOf(value: unknown, name: string): Columns {
  if (isObject(value)) return value;
  throw new TypeError(`${name} must be an object`);
}
