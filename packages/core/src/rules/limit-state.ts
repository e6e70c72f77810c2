import type { EpochMs, SpanMs } from "../time.js";

/** How a limit counts, by its name. */
export const LIMIT_ALGORITHMS = ["fixed", "sliding", "token-bucket", "concurrent"] as const;

/** How a limit counts. */
export type LimitAlgorithm = (typeof LIMIT_ALGORITHMS)[number];

export function isLimitAlgorithm(value: unknown): value is LimitAlgorithm {
  return (LIMIT_ALGORITHMS as readonly unknown[]).includes(value);
}

/** What decides under which name a limit is kept: another algorithm or duration counts anew. */
export interface LimitKind {
  readonly algorithm: LimitAlgorithm;
  readonly duration: SpanMs;
}

/** What a store keeps of one limit. A store never looks into it: only core's rules, and their translations, know what it says. */
export interface LimitState {
  /** `fixed`: start of the window. Others: the latest instant at which something was taken. */
  readonly at: EpochMs;
  /** `fixed`: units taken in the window. `sliding`: in the group of `at`. `token-bucket`: what was missing, in units × `duration`. `concurrent`: slots that are held. */
  readonly used: number;
  /** `sliding`: units of the groups before, the latest first; at most {@link MOST_EARLIER}. Empty for others. */
  readonly earlier: readonly number[];
}

/** Most groups that a sliding limit keeps beside the latest. */
export const MOST_EARLIER = 16;

/** Of a limit that counts in no groups, or has none before the latest. */
export const NONE_EARLIER: readonly number[] = Object.freeze([]);

const MARKS = { fixed: "", sliding: "s", "token-bucket": "t", concurrent: "c" } as const;

/** How the name of a window says what it is of: a limit of another algorithm or duration counts anew, so its window has another name. */
export function kindText({ algorithm, duration }: LimitKind): string {
  return `${MARKS[algorithm]}${duration}`;
}

/** Windows whose kind was read lately, at most {@link MOST_KINDS}: every step that gives units back asks for it. */
const kinds = new Map<string, LimitKind | null>();
const MOST_KINDS = 1_000;

/** What the name of a window says of its limit; null for a name of another making. */
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

/** Whether what is taken from a window is slots of a concurrent limit. */
export function isSlotWindow(window: string): boolean {
  return kindOfWindow(window)?.algorithm === "concurrent";
}

/** Name of the limit that a window of a key or an identity is of, configured or made up. */
export function limitNameOf(window: string): string {
  const name = window.slice(window.lastIndexOf(":") + 1);
  return name.includes("%") ? decodeURIComponent(name) : name;
}
