import { z } from "zod";
import { isObject } from "../lib/own-fields.js";
import { MAX_HELD } from "../records/grants.js";
import { KEY_LABELS } from "../records/key.js";
import {
  ADDRESS_RANGE_ERROR,
  canonicalAddressRange,
  MAX_ADDRESS_RANGES,
} from "../rules/address.js";
import type { MetadataInput } from "../rules/latchkey-types.js";
import { checkMetadata, type Metadata } from "../rules/metadata.js";
import type { PermissionQuery } from "../rules/permission.js";
import { NAMESPACE_PATTERN } from "../rules/rate-limit.js";
import { MAX_SECRET_LENGTH, PREFIX_PATTERN } from "../secrets/format.js";
import { checkPermissionQuery, type NameRule } from "./permission-query.js";

/** The largest number that latchkey accepts: 2^53 − 1, beyond which JavaScript loses whole numbers. */
const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

type ErrorText = (issue: { readonly input?: unknown }) => string;

/** `is required` for a missing field, otherwise the bound. Never the value. */
export function orRequired(message: string): ErrorText {
  return ({ input }) => (input === undefined ? "is required" : message);
}

/** A whole number from `min` to `max`, both included. Strings are not coerced. `message`: what it must be, in words. */
export function wholeNumber(min: number, max: number = MAX_NUMBER, message?: string) {
  const range = `must be a whole number from ${min} to ${max}`;
  const isOpen = max === MAX_NUMBER && message === undefined;
  const usual = orRequired(message ?? (isOpen ? `must be a whole number >= ${min}` : range));
  // The technical upper bound is named only if the number exceeds it.
  const error: ErrorText = (issue) =>
    isOpen && typeof issue.input === "number" && issue.input > max ? range : usual(issue);
  const number = z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
  // Makes -0 a 0: every store must return what it was given, and JSON has no negative zero.
  return number.overwrite((value) => value + 0);
}

function sized(min: number, max: number) {
  const error = orRequired(`must be a string of ${min} to ${max} characters`);
  return z.string({ error }).min(min, { error }).max(max, { error });
}

/** A text of `min` to `max` characters: well-formed Unicode without NUL, so that every store keeps it as it is. */
export function text(min: number, max: number) {
  return sized(min, max).refine((value) => value.isWellFormed() && !value.includes("\0"), {
    error: "must be well-formed Unicode without NUL characters",
  });
}

/** The input of an operation that takes nothing. */
export const noInput = z.strictObject({});

/** A schema of a list. Without this name, the published declarations would repeat each of its parts four times. */
export type ListSchema<Item extends z.ZodType> = z.ZodType<
  z.output<Item>[],
  readonly z.input<Item>[]
>;

/** A list of at most `max` items, which may be read-only: nothing writes to it. `what`: the items, in the plural, for messages. */
export function list<Item extends z.ZodType>(
  item: Item,
  max: number,
  what: string,
): ListSchema<Item> {
  const error = orRequired(`must be a list of at most ${max} ${what}`);
  return z.array(item, { error }).max(max, { error });
}

/** Like {@link list}, with at least one item. */
export function fullList<Item extends z.ZodType>(
  item: Item,
  max: number,
  what: string,
): ListSchema<Item> {
  const error = orRequired(`must be a list of 1 to ${max} ${what}`);
  return z.array(item, { error }).min(1, { error }).max(max, { error });
}

/** A text of any length. */
export const anyText = z.string({ error: orRequired("must be a string") });

/** A boolean; values that only look like one are refused. */
export const flag = z.boolean({ error: orRequired("must be true or false") });

/** An id that latchkey made, such as an `apiId`. */
export const id = text(1, 128);

export const presentedSecret = sized(1, MAX_SECRET_LENGTH);

export const externalId = text(1, 255);

export const environment = text(...KEY_LABELS.environment.length);

/** A text of this form. `otherwise`: what a value that is no text must be. Default: `error`. */
export function textLike(form: RegExp, error: string, otherwise: string = error) {
  return z.string({ error: orRequired(otherwise) }).regex(form, { error });
}

/** One of these words, which the message has without quotes. */
export function oneOfNames<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, { error: `must be one of ${words.join(", ")}` });
}

/** One of these words. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  const quoted = words.map((word) => `"${word}"`);
  return z.enum(words, { error: orRequired(`must be ${listed(quoted, "or")}`) });
}

/** Words of a sentence: `a, b or c`. */
function listed(words: readonly string[], conjunction: "and" | "or"): string {
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`;
}

const GRANT_NAME: NameRule = {
  pattern: /^[A-Za-z0-9_.:*-]{1,512}$/,
  error: "must be 1 to 512 characters of A-Z a-z 0-9 _ . : * -",
};

/** A name of a role or permission. */
export const grantName = textLike(
  GRANT_NAME.pattern,
  GRANT_NAME.error,
  "must be a string of 1 to 512 characters",
);

/** Names of permissions: as many as a key or a role can be given. */
export const grantNames = list(grantName, MAX_HELD.permissions, "names");

/** Text shown to people beside a role or permission; an empty text means none. */
export const description = text(0, 512);

/** The part of a secret before the `_`; an empty prefix means none. */
export const prefix = z
  .string({ error: "must be a string of at most 16 characters" })
  .refine((value) => value === "" || PREFIX_PATTERN.test(value), {
    error: "must be at most 16 characters of A-Z a-z 0-9 _ - and must not end in _",
  });

/** Takes the issues of a rule on several fields. */
export interface IssueSink {
  addIssue(issue: { code: "custom"; path: (string | number)[]; message: string }): void;
}

export function refuseField(sink: IssueSink, path: string | (string | number)[], message: string) {
  sink.addIssue({ code: "custom", path: typeof path === "string" ? [path] : path, message });
}

/** A transformation that refuses, with this message, every value for which `read` returns null. */
export function readBy<Value, Read>(read: (value: Value) => Read | null, message: string) {
  return (value: Value, sink: IssueSink): Read => {
    const result = read(value);
    if (result === null) refuseField(sink, [], message);
    return result ?? z.NEVER;
  };
}

const addressRange = z
  .string({ error: orRequired(ADDRESS_RANGE_ERROR) })
  .max(128, { error: ADDRESS_RANGE_ERROR })
  .transform(readBy(canonicalAddressRange, ADDRESS_RANGE_ERROR));

/** Addresses and ranges of an API or a key, in their canonical form; repeats are dropped. */
export const ipWhitelist = list(addressRange, MAX_ADDRESS_RANGES, "addresses and ranges").transform(
  (entries) => [...new Set(entries)],
);

/** Schema of metadata; its output is frozen. */
export const metadata: z.ZodType<Metadata, MetadataInput> = z
  .custom<MetadataInput>()
  .transform((value, sink): Metadata => {
    const check = checkMetadata(value);
    if (check.ok) return check.metadata;
    refuseField(sink, [], check.message);
    return z.NEVER;
  });

function queryOf(names?: NameRule): z.ZodType<PermissionQuery, PermissionQuery> {
  return z.custom<PermissionQuery>().transform((value, sink): PermissionQuery => {
    const check = checkPermissionQuery(value, names);
    if (check.ok) return check.query;
    refuseField(sink, [...check.path], check.message);
    return z.NEVER;
  });
}

/** Schema of a {@link PermissionQuery}. */
export const permissionQuery = queryOf();

/** The same, but only with names that a permission can have: any other name in a program's query is a mistake. */
export const grantQuery = queryOf(GRANT_NAME);

export const usesFrom = oneOf(["key", "identity"]);

/** The purpose of a rate limit that belongs to no key. */
export const namespace = textLike(
  NAMESPACE_PATTERN,
  "must be 1 to 128 characters of A-Z a-z 0-9 _ . : -",
  "must be a string of 1 to 128 characters",
);

/** Which page of a list to return. */
export interface PageInput {
  /** Most items of the page: 1 to 100. Default: 100. */
  readonly limit?: number | undefined;
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
}

export const pageFields = {
  limit: wholeNumber(1, 100).default(100),
  cursor: text(1, 1_024).optional(),
};

export const pageInput = z.strictObject(pageFields);

export type ApiReference = {
  /** Id of the API. */
  readonly apiId: string;
};

export const apiReference = z.strictObject({ apiId: id });

export type KeyReference = {
  /** Id of the key. */
  readonly keyId: string;
};

export const keyReference = z.strictObject({ keyId: id });

/** Checks a rule on several fields even if one is refused, so that all issues come at once. The rule must expect fields of any type. */
export const evenWithIssues = {
  when: ({ value }: { readonly value: unknown }) => isObject(value),
};

/** How many of these fields are given. */
export function countGiven(...fields: readonly unknown[]): number {
  return fields.filter((field) => field !== undefined).length;
}

/** The rule, for `refine`, that exactly one of these fields is given. Its issue is at the first. */
export function exactlyOneOf<Name extends string>(...names: readonly [Name, ...Name[]]) {
  const isSo = (fields: { readonly [Field in Name]?: unknown }) =>
    countGiven(...names.map((name) => fields[name])) === 1;
  const error = `exactly one of ${listed(names, "and")} must be given`;
  return [isSo, { ...evenWithIssues, path: names.slice(0, 1), error }] as const;
}

type FieldSchemas = Readonly<Record<string, z.ZodType>>;

/** The same fields, each of which may be absent. */
export function optional<Fields extends FieldSchemas>(fields: Fields) {
  return mapped(fields, (field) => field.optional()) as {
    [Name in keyof Fields]: z.ZodOptional<Fields[Name]>;
  };
}

/** The same fields, each of which may be null. */
export function nullable<Fields extends FieldSchemas>(fields: Fields) {
  return mapped(fields, (field) => field.nullable()) as {
    [Name in keyof Fields]: z.ZodNullable<Fields[Name]>;
  };
}

function mapped(fields: FieldSchemas, change: (field: z.ZodType) => z.ZodType): unknown {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)]));
}
