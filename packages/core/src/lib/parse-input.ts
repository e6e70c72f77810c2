import type { z } from "zod";
import { badRequest, type InputIssue, LatchkeyError } from "../errors.js";
import { isPolluted, withoutPrototype } from "./own-fields.js";
import { SchemaHints } from "./schema-hints.js";

/** Most issues that are listed one by one. */
const MAX_ISSUES = 1_000;

/** Most levels of an input that schemas read: a list of keys, their limits, the fields of the limits. */
const COPY_DEPTH = 5;

/** Most levels of an input that are searched for a value that cannot be read. */
const MAX_DEPTH = 20;

/** The schema of an operation's input. `Output`: the checked input. */
export type InputSchema<Input = unknown, Output = unknown> = z.ZodType<Output, Input>;

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
