import { sha256Text } from "../secrets/hash.js";
import type { SpanMs } from "../time.js";

interface NamedSpan {
  readonly name: string;
  readonly duration: SpanMs;
}

/** Name of the window of a configured limit, among the counters of its owner. A limit of another duration counts anew. */
export function configuredWindow({ name, duration }: NamedSpan): string {
  return `${duration}:${encodeURIComponent(name)}`;
}

/** Name of the window of a limit that a request made up. The keys of a rotation share it. */
export function adHocWindow(sharedCountersId: string, limit: NamedSpan): string {
  return `a:${sharedCountersId}:${configuredWindow(limit)}`;
}

/** Name of the window of a limit that belongs to no key. Identifiers are of any length and alphabet: a digest stands for them. */
export function namespaceWindow(namespace: string, identifier: string, duration: SpanMs): string {
  return `n:${duration}:${sha256Text(JSON.stringify([namespace, identifier]))}`;
}

/** The duration in the name of a window that belongs to no record; null for a name of another making. */
export function durationOfWindow(window: string): SpanMs | null {
  const [, digits] = /^(?:n|a:[^:]+):(\d+):/.exec(window) ?? [];
  return digits === undefined ? null : Number(digits);
}
