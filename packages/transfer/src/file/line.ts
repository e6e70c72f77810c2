import {
  deepFrozen,
  isDeeperThan,
  type JsonValue,
  kindOfWindow,
  LatchkeyError,
  type LimitKind,
  type LimitState,
  layoutOf,
  MOST_EARLIER,
  parseHold,
  parseHoldSums,
  parseLimitState,
  RECORD_KINDS,
  type RecordLayout,
  STATISTICS_SPAN_MS,
  SUM_CODES,
  WORKSPACE_ID_PATTERN,
} from "@latchkey/core";
import type { Part, RecordList } from "../passes/source.js";
import { type CopiedRecord, textOf } from "../records/copied-record.js";
import { HIGHEST_NUMBER, LOG } from "../records/log-end.js";
import { DAY_MS, SUBJECT_KINDS, type UnownedSums, unownedText } from "../records/unowned-sums.js";
import { type FoundWindow, stateFields, windowLimitsOf } from "../records/windows.js";

/** The content of one line of a backup, as described in `docs/backup-format.md`. */
export type Line =
  | { readonly type: "header"; readonly createdAt: number }
  | { readonly type: "workspace"; readonly workspaceId: string }
  | { readonly type: "list"; readonly of: RecordList }
  | { readonly type: "record"; readonly record: CopiedRecord }
  | { readonly type: "counted"; readonly sums: UnownedSums }
  | { readonly type: "window"; readonly window: FoundWindow }
  | { readonly type: "end"; readonly lines: number; readonly sha256: string };

export const FORMAT = "latchkey-backup";

/** The version that this code writes, and the newest that it reads. */
export const VERSION = 1;

/**
 * Maximum bytes of a line, enough for the sums of a key that was verified in every hour of a decade. Longer lines are neither
 * written nor read.
 */
export const MAX_LINE = 16 * 1024 * 1024;

/** Maximum nesting of a line. Metadata may have 16 levels. */
const MAX_DEPTH = 64;

/**
 * Lines longer than this are checked for nesting before they are parsed: millions of nested lists would keep a parser busy for
 * long.
 */
const LONG = 1_000_000;

/** Whether brackets outside of strings are nested more than {@link MAX_DEPTH} deep. */
function isNestedDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (bracket === "[" || bracket === "{") depth += 1;
    else if (bracket === "]" || bracket === "}") depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** The error for a backup that cannot be used. */
export function unusable(why: string, cause?: unknown): LatchkeyError {
  return new LatchkeyError("PRECONDITION_FAILED", `the backup cannot be used: ${why}`, { cause });
}

/**
 * The lines of a part.
 *
 * @param list - The list that was started before.
 */
export function* linesOf(part: Part, list: string | null): Generator<string> {
  switch (part.kind) {
    case "workspace":
      yield JSON.stringify({ workspace: part.workspaceId });
      if (part.record !== null) yield lineOf(part.record);
      return;
    case "records":
      if (part.of.list !== list) {
        const { list: name, kind: of, last } = part.of;
        yield JSON.stringify({ list: name, of, last });
      }
      for (const record of part.records) yield lineOf(record);
      return;
    case "statistics":
      yield* part.sums.map(unownedText);
      return;
    case "windows":
      for (const { window, found } of part.windows.values()) {
        const [startedAt, used, earlier] = stateFields(found);
        yield JSON.stringify({ window, startedAt, used, earlier });
      }
      return;
    default:
      part satisfies never;
  }
}

function lineOf(copied: CopiedRecord): string {
  const line = textOf(copied);
  // For most lines, the length in characters is enough to know.
  if (line.length * 3 <= MAX_LINE || Buffer.byteLength(line) <= MAX_LINE) return line;
  const { kind, id } = copied.record;
  throw new LatchkeyError(
    "PRECONDITION_FAILED",
    `the ${kind} ${id} takes more than ${MAX_LINE} bytes, which no restore would read: delete old statistics first`,
  );
}

type Fields = { readonly [name: string]: JsonValue | undefined };

/**
 * @param number - Line number, from 1.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` for a line that no backup contains.
 */
export function parseLine(text: string, number: number, workspaceId: string): Line {
  try {
    const isTooDeep = text.length > LONG && isNestedDeep(text);
    const fields = isTooDeep ? {} : (JSON.parse(text) as Fields);
    if (isTooDeep || isDeeperThan(MAX_DEPTH, fields))
      throw unusable(`line ${number} is nested more than ${MAX_DEPTH} levels deep`);
    return read(fields, workspaceId);
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "PRECONDITION_FAILED") throw error;
    throw unusable(`line ${number} is damaged, or a newer latchkey wrote it`, error);
  }
}

function read(fields: Fields, workspaceId: string): Line {
  if (fields.format !== undefined) return readHeader(fields);
  if (fields.workspace !== undefined) {
    if (!WORKSPACE_ID_PATTERN.test(text(fields.workspace)))
      throw new TypeError("no workspace has this id");
    return { type: "workspace", workspaceId: text(fields.workspace) };
  }
  if (fields.list !== undefined) return { type: "list", of: readList(fields) };
  if (fields.counted !== undefined) return { type: "counted", sums: readUnowned(fields) };
  if (fields.window !== undefined) return { type: "window", window: readWindow(fields) };
  if (fields.sha256 !== undefined)
    return { type: "end", lines: whole(fields.lines), sha256: text(fields.sha256) };
  return { type: "record", record: readRecord(fields, workspaceId) };
}

function readHeader({ format, version, createdAt }: Fields): Line {
  if (format !== FORMAT) throw unusable("it is not a latchkey backup");
  if (whole(version) > VERSION)
    throw unusable(`it has version ${version}, and this latchkey reads up to ${VERSION}`);
  return { type: "header", createdAt: whole(createdAt) };
}

function readList({ list, of, last }: Fields): RecordList {
  if (last === undefined) return { kind: kind(of), list: text(list) };
  if (list !== LOG || whole(last) > HIGHEST_NUMBER)
    throw new TypeError("no log ends with this number");
  return { kind: kind(of), list, last: whole(last) };
}

function readUnowned({ counted, of, sums }: Fields): UnownedSums {
  const kind = SUBJECT_KINDS.find((known) => known === of);
  if (kind === undefined) throw new TypeError("nothing of this kind is counted");
  const found = readSums(sums);
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) throw new TypeError("nothing was counted");
  const dayAt = first.hourAt - (first.hourAt % DAY_MS);
  if (last.hourAt >= dayAt + DAY_MS) throw new TypeError("these sums are of several days");
  return { subject: { kind, id: text(counted) }, dayAt, sums: found };
}

function readWindow({ window, startedAt, used, earlier }: Fields): FoundWindow {
  const kind = kindOfWindow(text(window));
  if (kind === null) throw new TypeError("no window has this name");
  return { window: text(window), ...kind, found: readState(kind, startedAt, used, earlier) };
}

/** Maximum numbers after the units in a limit state: earlier groups, or for a token bucket the units that leases hold. */
const MOST_EARLIER_OF = {
  fixed: 0,
  sliding: MOST_EARLIER,
  "token-bucket": 1,
  concurrent: 0,
} as const;

/** Whether a store can have such a limit state: something was taken, and a fixed window starts on an edge. */
function readState(
  { algorithm, duration }: LimitKind,
  at: unknown,
  used: unknown,
  earlier: unknown,
): LimitState {
  const groups = earlier === undefined ? "" : `:${text(earlier)}`;
  const state = parseLimitState(`${whole(at)}:${whole(used, 1)}${groups}`);
  if (algorithm === "fixed" && state.at % whole(duration, 1) !== 0)
    throw new TypeError("no window begins there");
  if (state.earlier.length > MOST_EARLIER_OF[algorithm])
    throw new TypeError("no limit keeps so many groups");
  return state;
}

function readRecord(fields: Fields, workspaceId: string): CopiedRecord {
  const {
    id,
    version,
    link = null,
    body,
    usage,
    held,
    windows = [],
    usedAt = null,
    sums = [],
  } = fields;
  const record = {
    kind: kind(fields.kind),
    id: text(id),
    version: whole(version),
    link: link === null ? null : text(link),
    body: deepFrozen(body as JsonValue),
  };
  const layout = layoutOf(record, workspaceId);
  return {
    record,
    layout,
    ...readCounters(readUsage(record, usage), held),
    windows: readWindows(layout, windows),
    usedAt: usedAt === null ? null : whole(usedAt),
    sums: readSums(sums),
  };
}

/**
 * Only keys and identities have counters. If others had some, keys that share counters would wait forever for the record that
 * brings them.
 */
function readUsage({ kind }: CopiedRecord["record"], value: unknown): CopiedRecord["usage"] {
  const hasCounters = kind === "key" || kind === "identity";
  if (hasCounters !== (value !== undefined))
    throw new TypeError("counters are missing, or too many");
  if (value === undefined) return null;
  const [remaining, refilledAt, lastRefillAt] = items(value);
  return {
    remaining: remaining === null ? null : whole(remaining),
    refilledAt: whole(refilledAt),
    lastRefillAt: lastRefillAt === null ? null : whole(lastRefillAt),
  };
}

/** Only counters can have holds. */
function readCounters(
  usage: CopiedRecord["usage"],
  value: unknown,
): Pick<CopiedRecord, "usage" | "holds"> {
  if (value === undefined) return { usage, holds: [] };
  if (usage === null) throw new TypeError("counters are missing");
  const [sums, ...found] = items(value);
  let last = "";
  const holds = found.map((each) => {
    const [id, hold] = items(each).map(text);
    if (id === undefined || hold === undefined || id <= last)
      throw new TypeError("what is held is not in order");
    last = id;
    return parseHold(id, hold);
  });
  return { usage: { ...usage, holds: parseHoldSums(text(sums)) }, holds };
}

function readWindows(layout: RecordLayout, value: unknown): CopiedRecord["windows"] {
  const limits = new Map(windowLimitsOf(layout).map((limit) => [limit.window, limit]));
  const found = items(value).map((each): [string, LimitState] => {
    const [name, at, used, earlier] = items(each);
    const limit = limits.get(text(name));
    if (limit === undefined) throw new TypeError("no limit of the record has this window");
    return [text(name), readState(limit, at, used, earlier)];
  });
  return Object.fromEntries(found);
}

function readSums(value: unknown): CopiedRecord["sums"] {
  let last = "";
  return items(value).map((each) => {
    const [hourAt, word, count] = items(each);
    const code = SUM_CODES.find((known) => known === word);
    if (code === undefined) throw new TypeError("nothing that is counted has this name");
    const sum = { hourAt: whole(hourAt), code, count: whole(count, 1) };
    const place = `${String(sum.hourAt).padStart(16, "0")} ${code}`;
    if (sum.hourAt % STATISTICS_SPAN_MS !== 0 || place <= last)
      throw new TypeError("no store has these sums");
    last = place;
    return sum;
  });
}

function items(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError("a list is missing");
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError("a text is missing");
}

function whole(value: unknown, least = 0): number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  throw new TypeError("a number is missing");
}

function kind(value: unknown): RecordList["kind"] {
  const known = RECORD_KINDS.find((name) => name === value);
  if (known !== undefined) return known;
  throw new TypeError("no kind has this name");
}
