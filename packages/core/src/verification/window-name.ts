import type { LimitKind } from "../rules/limit-state.js";
import { sha256Text } from "../secrets/hash.js";

const MARKS = { fixed: "", sliding: "s", "token-bucket": "t" } as const;

/** A limit of another algorithm or duration counts anew: its window has another name. */
function kindText({ algorithm, duration }: LimitKind): string {
  return `${MARKS[algorithm]}${duration}`;
}

/** Name of the window of a configured limit, among the counters of its owner. */
export function configuredWindow(limit: LimitKind & { readonly name: string }): string {
  return `${kindText(limit)}:${encodeURIComponent(limit.name)}`;
}

/** Name of the window of a limit that a request made up. The keys of a rotation share it. */
export function adHocWindow(
  sharedCountersId: string,
  limit: LimitKind & { readonly name: string },
): string {
  return `a:${sharedCountersId}:${configuredWindow(limit)}`;
}

/** Name of the window of a limit that belongs to no key. Identifiers are of any length and alphabet: a digest stands for them. */
export function namespaceWindow(namespace: string, identifier: string, limit: LimitKind): string {
  return `n:${kindText(limit)}:${sha256Text(JSON.stringify([namespace, identifier]))}`;
}

/** What the name of a window that belongs to no record says of its limit; null for a name of another making. */
export function kindOfWindow(window: string): LimitKind | null {
  const [, mark, digits] = /^(?:n|a:[^:]+):([st]?)(\d+):/.exec(window) ?? [];
  if (digits === undefined) return null;
  const algorithm = mark === "" ? "fixed" : mark === "s" ? "sliding" : "token-bucket";
  return { algorithm, duration: Number(digits) };
}
