import type { EpochMs, SpanMs } from "../time.js";

/** The algorithms of rate limits. */
export const LIMIT_ALGORITHMS = ["fixed", "sliding", "token-bucket", "concurrent"] as const;

/** One of {@link LIMIT_ALGORITHMS}. */
export type LimitAlgorithm = (typeof LIMIT_ALGORITHMS)[number];

export function isLimitAlgorithm(value: unknown): value is LimitAlgorithm {
  return (LIMIT_ALGORITHMS as readonly unknown[]).includes(value);
}

/** Part of a window's name: a limit with another algorithm or duration starts a new count. */
export interface LimitKind {
  readonly algorithm: LimitAlgorithm;
  readonly duration: SpanMs;
}

/** The figures of a limit. */
export interface LimitFigures extends LimitKind {
  /** Units per `duration`: a whole number >= 1. */
  readonly limit: number;
  /** Units that a token bucket holds: a whole number >= 1, and `burst` × `duration` + `limit` is at most 2^53 − 1. Ignored otherwise. */
  readonly burst: number;
  /** How many of the taken units a lease holds: a token bucket refills them only when it has ended. Absent: none. Ignored otherwise. */
  readonly held?: number | undefined;
}

/** The state of one limit, opaque to stores: only core's rules, and their translations to SQL and Lua, read it. */
export interface LimitState {
  /** `fixed`: start of the window. Others: the latest instant at which something was taken. */
  readonly at: EpochMs;
  /**
   * `fixed`: units taken in the window. `sliding`: units taken in the sixteenth of `duration` around `at`. `token-bucket`: missing units ×
   * `duration`. `concurrent`: slots held.
   */
  readonly used: number;
  /**
   * `sliding`: units of the sixteenths before, the latest first; at most {@link MOST_EARLIER}. `token-bucket`: the number of missing
   * units that leases hold, if any; once units were reserved, also the inflow since an instant, in units × `duration`, and that instant.
   * Otherwise empty.
   */
  readonly earlier: readonly number[];
}

/** Most entries of `LimitState.earlier`. */
export const MOST_EARLIER = 16;

/** For a limit without groups, or with none before the latest, and for a bucket without held or reserved units. */
export const NONE_EARLIER: readonly number[] = Object.freeze([]);

const MARKS = { fixed: "", sliding: "s", "token-bucket": "t", concurrent: "c" } as const;

/** Algorithm and duration as a part of a window's name: a limit with others counts anew, so it needs another name. */
export function kindText({ algorithm, duration }: LimitKind): string {
  return `${MARKS[algorithm]}${duration}`;
}

/** Kinds of recently read windows, at most {@link MOST_KINDS}: every step that returns units needs them. */
const kinds = new Map<string, LimitKind | null>();
const MOST_KINDS = 1_000;

/** Reads the algorithm and duration in the name of a window; null if core did not write the name. */
export function kindOfWindow(window: string): LimitKind | null {
  const known = kinds.get(window);
  if (known !== undefined) return known;
  const kind = readKind(window);
  if (kinds.size >= MOST_KINDS) kinds.clear();
  kinds.set(window, kind);
  return kind;
}

function readKind(window: string): LimitKind | null {
  const [, mark, digits] = /^(?:n:|a:[^:]+:)?([stc]?)(\d+):/.exec(window) ?? [];
  const algorithm = LIMIT_ALGORITHMS.find((each) => MARKS[each] === mark);
  return algorithm === undefined ? null : { algorithm, duration: Number(digits) };
}

export function isSlotWindow(window: string): boolean {
  return kindOfWindow(window)?.algorithm === "concurrent";
}

/** Name of the limit that a window of a key or identity belongs to, configured or ad hoc. */
export function limitNameOf(window: string): string {
  const name = window.slice(window.lastIndexOf(":") + 1);
  return name.includes("%") ? decodeURIComponent(name) : name;
}
