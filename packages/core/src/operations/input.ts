import { z } from "zod";
import { badRequest, type InputIssue, LatchkeyError } from "../errors.js";
import { isObject, isPolluted, withoutPrototype } from "../lib/own-fields.js";
import { SchemaHints } from "../lib/schema-hints.js";
import { MAX_HELD } from "../records/grants.js";
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

/** Most issues that are listed one by one. */
const MAX_ISSUES = 1_000;

/** Most levels of an input that schemas read: a list of keys, their limits, the fields of the limits. */
const COPY_DEPTH = 5;

/** Most levels of an input that are searched for a value that cannot be read. */
const MAX_DEPTH = 20;

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

/** A text of `min` to `max` characters: well-formed Unicode without NUL, so that every store keeps it as it is. */
export function text(min: number, max: number) {
  const error = orRequired(`must be a string of ${min} to ${max} characters`);
  return z
    .string({ error })
    .min(min, { error })
    .max(max, { error })
    .refine((value) => value.isWellFormed() && !value.includes("\0"), {
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

/** A boolean; values that only look like one are refused. */
export const flag = z.boolean({ error: orRequired("must be true or false") });

/** An id that latchkey made, such as an `apiId`. */
export const id = text(1, 128);

const SECRET_ERROR = `must be a string of 1 to ${MAX_SECRET_LENGTH} characters`;

export const presentedSecret = z
  .string({ error: orRequired(SECRET_ERROR) })
  .min(1, { error: SECRET_ERROR })
  .max(MAX_SECRET_LENGTH, { error: SECRET_ERROR });

export const externalId = text(1, 255);

const GRANT_NAME: NameRule = {
  pattern: /^[A-Za-z0-9_.:*-]{1,512}$/,
  error: "must be 1 to 512 characters of A-Z a-z 0-9 _ . : * -",
};

/** A name of a role or permission. */
export const grantName = z
  .string({ error: orRequired("must be a string of 1 to 512 characters") })
  .regex(GRANT_NAME.pattern, { error: GRANT_NAME.error });

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

export const usesFrom = z.enum(["key", "identity"], { error: 'must be "key" or "identity"' });

/** The purpose of a rate limit that belongs to no key. */
export const namespace = z
  .string({ error: orRequired("must be a string of 1 to 128 characters") })
  .regex(NAMESPACE_PATTERN, { error: "must be 1 to 128 characters of A-Z a-z 0-9 _ . : -" });

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

/** The schema of an operation's input. `Output`: the checked input. */
export type InputSchema<Input = unknown, Output = unknown> = z.ZodType<Output, Input>;

/** Checks a rule on several fields even if one is refused, so that all issues come at once. The rule must expect fields of any type. */
export const evenWithIssues = {
  when: ({ value }: { readonly value: unknown }) => isObject(value),
};

/** How many of these fields are given, for a rule such as "exactly one of them". */
export function countGiven(...fields: readonly unknown[]): number {
  return fields.filter((field) => field !== undefined).length;
}

/**
 * Checks an input against its schema and further rules.
 *
 * @param further - Finds issues that a schema cannot see (the time, two fields together). It gets the raw input, even if the schema refuses
 * it, so that all issues are reported at once.
 * @throws LatchkeyError `BAD_REQUEST` with every issue; of more than 1,000, the first ones and the number of the others.
 */
export function parseInput<Schema extends InputSchema>(
  schema: Schema,
  input: unknown,
  further: (raw: Readonly<Record<string, unknown>>) => readonly InputIssue[] = () => [],
): z.output<Schema> {
  try {
    // A schema with messages takes several times as long, so it is used only if something is wrong.
    const own = isPolluted() ? withoutPrototype(input, COPY_DEPTH) : input;
    const result = schema.safeParse(own);
    const raw =
      typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
    const others = further(raw);
    if (result.success && others.length === 0)
      return own === input ? result.data : withoutPrototype(result.data, COPY_DEPTH);
    const refused = schema.safeParse(own, { error: describeType }).error?.issues ?? [];
    const hints = new SchemaHints(schema);
    const issues = refused.flatMap((issue) => toInputIssues(issue, hints));
    throw refusal([...issues, ...others]);
  } catch (error) {
    throw unreadable(error, input);
  }
}

/** The error for an unreadable input: a `BAD_REQUEST` naming the value that throws (a getter, a proxy), otherwise the original error. */
export function unreadable(error: unknown, input: unknown): unknown {
  const path = error instanceof LatchkeyError ? null : unreadablePath(input, MAX_DEPTH);
  return path === null ? error : refusal([{ path: path.join("."), message: "cannot be read" }]);
}

/** What a schema reads of a value beside its fields; a proxy may refuse any of it. In a list, because a bundler drops unused reads. */
const READS: readonly ((value: object) => unknown)[] = [
  Reflect.getPrototypeOf,
  Array.isArray,
  (value) => Reflect.has(value, ""),
  (value) => Reflect.get(value, "constructor"),
  // A schema compares it before it knows that the value is a text or a list.
  (value) => (Reflect.get(value, "length") as number) < 0,
];

function unreadablePath(value: unknown, depth: number): readonly string[] | null {
  if (typeof value !== "object" || value === null || depth === 0) return null;
  let name: string | undefined;
  try {
    for (const read of READS) read(value);
    for (name of Object.keys(value)) {
      const path = unreadablePath(Reflect.get(value, name), depth - 1);
      if (path !== null) return [name, ...path];
    }
    return null;
  } catch {
    return name === undefined ? [] : [name];
  }
}

/** The `BAD_REQUEST` of these issues, each once; of more than 1,000, the first ones and the number of the others. */
export function refusal(issues: readonly InputIssue[]): LatchkeyError {
  return badRequest(listable(withoutRepeats(issues)).map(shownBriefly));
}

/** Most characters of a path in an issue: a path may be as long as the input. */
const MAX_PATH = 256;

/** No field has a longer name. A longer one may be a secret, so only its start is repeated. */
const LONGEST_NAME = 24;

function shownBriefly(issue: InputIssue): InputIssue {
  const { message } = issue;
  const names = issue.path.split(".", MAX_PATH);
  // Names within metadata are the caller's own.
  const path = (names[0] === "meta" ? names : names.map(shownName)).join(".");
  if (path === issue.path && path.length <= MAX_PATH) return issue;
  return { path: path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path, message };
}

function shownName(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, 8)}…` : name;
}

const UNKNOWN_FIELD = "is not a known field";

const NO_OBJECT = "must be an object";

/** The message of a schema that has none of its own. */
function describeType(issue: { readonly input?: unknown; readonly expected?: unknown }) {
  if (issue.input === undefined) return "is required";
  if (issue.expected === "object") return NO_OBJECT;
  return undefined;
}

function toInputIssues(issue: z.core.$ZodIssue, hints: SchemaHints): InputIssue[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key].join("."),
      message: `${UNKNOWN_FIELD}${hints.ofUnknown(path, key)}`,
    }));
  if (issue.code === "invalid_union") {
    const [choice, ...others] = issue.errors.filter(isWithin);
    if (choice !== undefined && others.length === 0)
      return choice.flatMap((inner) =>
        toInputIssues({ ...inner, path: [...issue.path, ...inner.path] }, hints),
      );
  }
  const isWhole = path.length === 0 && issue.code === "invalid_type" && issue.expected === "object";
  const message = isWhole ? `the input ${NO_OBJECT}` : issue.message;
  return [
    {
      path: path.join("."),
      message: message.endsWith(NO_OBJECT) ? `${message}${hints.ofObject(path)}` : message,
    },
  ];
}

/** Whether a value has the type of this choice of a union, even if something within it is wrong. */
function isWithin(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.every(({ code, path }) => path.length > 0 || code === "unrecognized_keys");
}

/** The response to a hostile input must not be many times as long as the input. */
function listable(issues: readonly InputIssue[]): readonly InputIssue[] {
  if (issues.length <= MAX_ISSUES) return issues;
  const left = issues.length - MAX_ISSUES;
  const message = left === 1 ? "and 1 more issue" : `and ${left} more issues`;
  return [...issues.slice(0, MAX_ISSUES), { path: "", message }];
}

function withoutRepeats(issues: readonly InputIssue[]): InputIssue[] {
  const seen = new Set<string>();
  return issues.filter(({ path, message }) => {
    const key = `${path}\n${message}`;
    return seen.has(key) ? false : seen.add(key);
  });
}
