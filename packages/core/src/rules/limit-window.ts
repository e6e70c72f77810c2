import { LIMIT_ALGORITHMS, type LimitKind } from "./limit-state.js";

const MARKS = { fixed: "", sliding: "s", "token-bucket": "t", concurrent: "c" } as const;

/** How the name of a window says what it is of: a limit of another algorithm or duration counts anew, so its window has another name. */
export function kindText({ algorithm, duration }: LimitKind): string {
  return `${MARKS[algorithm]}${duration}`;
}

/** What the name of a window says of its limit; null for a name of another making. */
export function kindOfWindow(window: string): LimitKind | null {
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
  return decodeURIComponent(window.slice(window.lastIndexOf(":") + 1));
}
