import type { InputIssue } from "@latchkey/core";
import type { QueryType } from "../operations/operation.js";

/** A query string as fields of an input, and what no schema can see. */
export interface Query {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly issues: readonly InputIssue[];
  /** Fields that were given but cannot be decoded: null in `fields`, so that they do not count as left out. */
  readonly unreadable: readonly string[];
}

/**
 * Reads a query string. Parameters that are numbers or booleans become such where they are written as one; any
 * other value stays text, for the schema to refuse with the same words as in a body.
 *
 * @param text - What follows the `?`, without it.
 * @param types - Parameters that are no strings.
 */
export function readQuery(text: string, types: Readonly<Record<string, QueryType>> = {}): Query {
  // Without a prototype, so that a parameter named __proto__ is a field like any other, and an unknown one.
  const fields: Record<string, unknown> = Object.create(null);
  const issues: InputIssue[] = [];
  const unreadable: string[] = [];
  for (const pair of text === "" ? [] : text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
    if (name === null || value === null) {
      issues.push({ path: name ?? "", message: "must be percent-encoded UTF-8" });
      if (name === null) continue;
      unreadable.push(name);
      fields[name] = null;
    } else if (Object.hasOwn(fields, name)) {
      issues.push({ path: name, message: "must not be given twice" });
    } else {
      fields[name] = Object.hasOwn(types, name) ? convert(value, types[name]) : value;
    }
  }
  return { fields, issues, unreadable };
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

function convert(value: string, type: QueryType | undefined): unknown {
  if (type === "integer") return /^(?:0|[1-9][0-9]{0,15})$/.test(value) ? Number(value) : value;
  if (value === "true" || value === "1") return true;
  if (value === "false" || value === "0" || value === "null" || value === "") return false;
  return value;
}
