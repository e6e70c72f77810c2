import {
  COUNTED_CODES,
  deepFrozen,
  durationOfWindow,
  type JsonValue,
  LatchkeyError,
  layoutOf,
  RECORD_KINDS,
} from "@latchkey/core";
import type { Part, RecordList } from "../passes/source.js";
import { type CopiedRecord, textOf } from "../records/copied-record.js";
import type { FoundWindow } from "../records/windows.js";

/** What a line of a backup says. `docs/backup-format.md` describes them all. */
export type Line =
  | { readonly type: "header"; readonly createdAt: number }
  | { readonly type: "workspace"; readonly workspaceId: string }
  | { readonly type: "list"; readonly of: RecordList }
  | { readonly type: "record"; readonly record: CopiedRecord }
  | { readonly type: "window"; readonly window: FoundWindow }
  | { readonly type: "end"; readonly lines: number; readonly sha256: string };

export const FORMAT = "latchkey-backup";

/** The version that this code writes, and the newest that it reads. */
export const VERSION = 1;

/** The error of a backup that is not used. */
export function unusable(why: string, cause?: unknown): LatchkeyError {
  return new LatchkeyError("PRECONDITION_FAILED", `the backup cannot be used: ${why}`, { cause });
}

/** The lines of a part. @param list - The list that was begun before. */
export function* linesOf(part: Part, list: string | null): Generator<string> {
  switch (part.kind) {
    case "workspace":
      yield JSON.stringify({ workspace: part.workspaceId });
      if (part.record !== null) yield textOf(part.record);
      return;
    case "records":
      if (part.of.list !== list) yield JSON.stringify({ list: part.of.list, of: part.of.kind });
      for (const record of part.records) yield textOf(record);
      return;
    case "windows":
      for (const { window, found } of part.windows.values())
        yield JSON.stringify({ window, startedAt: found.startedAt, used: found.used });
      return;
    default:
      part satisfies never;
  }
}

type Fields = { readonly [name: string]: JsonValue | undefined };

/** @throws LatchkeyError for a line that is none. */
export function parseLine(text: string, workspaceId: string): Line {
  try {
    return read(JSON.parse(text) as Fields, workspaceId);
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "PRECONDITION_FAILED") throw error;
    throw unusable("a line of it is damaged", error);
  }
}

function read(fields: Fields, workspaceId: string): Line {
  if (fields.format !== undefined) return readHeader(fields);
  if (fields.workspace !== undefined)
    return { type: "workspace", workspaceId: text(fields.workspace) };
  if (fields.list !== undefined)
    return { type: "list", of: { kind: kind(fields.of), list: text(fields.list) } };
  if (fields.window !== undefined) return { type: "window", window: readWindow(fields) };
  if (fields.sha256 !== undefined)
    return { type: "end", lines: whole(fields.lines), sha256: text(fields.sha256) };
  return { type: "record", record: readRecord(fields, workspaceId) };
}

function readHeader({ format, version, createdAt }: Fields): Line {
  if (format !== FORMAT) throw unusable("it is none of latchkey's");
  if (whole(version) > VERSION)
    throw unusable(`it has version ${version}, and this latchkey reads up to ${VERSION}`);
  return { type: "header", createdAt: whole(createdAt) };
}

function readWindow({ window, startedAt, used }: Fields): FoundWindow {
  const duration = durationOfWindow(text(window));
  if (duration === null) throw new TypeError("no window has this name");
  const found = { startedAt: whole(startedAt), used: whole(used) };
  return { window: text(window), duration, found };
}

function readRecord(fields: Fields, workspaceId: string): CopiedRecord {
  const { id, version, link = null, body, usage, windows = [], usedAt = null, sums = [] } = fields;
  const record = {
    kind: kind(fields.kind),
    id: text(id),
    version: whole(version),
    link: link === null ? null : text(link),
    body: deepFrozen(body as JsonValue),
  };
  const counters = usage as readonly [number | null, number, number | null] | undefined;
  const found = windows as readonly (readonly [string, number, number])[];
  const counts = sums as readonly (readonly [number, string, number])[];
  return {
    record,
    layout: layoutOf(record, workspaceId),
    usage:
      counters === undefined
        ? null
        : {
            remaining: counters[0] === null ? null : whole(counters[0]),
            refilledAt: whole(counters[1]),
            lastRefillAt: counters[2] === null ? null : whole(counters[2]),
          },
    windows: Object.fromEntries(
      found.map(([name, startedAt, used]) => {
        return [text(name), { startedAt: whole(startedAt), used: whole(used) }];
      }),
    ),
    usedAt: usedAt === null ? null : whole(usedAt),
    sums: counts.map(([hourAt, word, count]) => {
      const code = COUNTED_CODES.find((known) => known === word);
      if (code === undefined) throw new TypeError("no verdict has this name");
      return { hourAt: whole(hourAt), code, count: whole(count) };
    }),
  };
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError("a text is missing");
}

function whole(value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new TypeError("a number is missing");
}

function kind(value: unknown): RecordList["kind"] {
  const known = RECORD_KINDS.find((name) => name === value);
  if (known !== undefined) return known;
  throw new TypeError("no kind has this name");
}
