import { readFileSync } from "node:fs";
import { KEYS, type Kind, WINDOW_MS } from "./keys.js";
import { FAILED, ROW } from "./workers.js";

/** Spans in which a key must not be admitted: from when a change resolved to when the one that brings it back began. */
export interface Span {
  readonly from: number;
  to: number;
}

/** What processes have written, put together. */
export interface Admissions {
  /** By key. */
  readonly admitted: readonly number[];
  /** By key: verifications of which nobody knows whether the store took a use. */
  readonly failed: readonly number[];
  /** Admissions of a key while it was revoked. */
  readonly contradictions: number;
  /** The most in a window, a span, and a span of a bucket: of all keys of that kind. */
  readonly most: Readonly<Record<"limited" | "sliding" | "bucket", number>>;
}

/** A verification that takes longer than this was held up: nobody knows when it was decided. In ms. */
const KNOWN_WITHIN = 5;

/** `revoked`: by key. */
export function readAdmissions(
  files: readonly string[],
  revoked: readonly (readonly Span[])[],
): Admissions {
  const admitted = KEYS.map(() => 0);
  const failed = KEYS.map(() => 0);
  const windows = new Map<string, number>();
  const instants = KEYS.map((): number[] => []);
  let contradictions = 0;
  for (const file of files) {
    const bytes = readFileSync(file);
    const rows = new Float64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 8));
    for (let first = 0; first + ROW.length <= rows.length; first += ROW.length) {
      const row = rows.subarray(first, first + ROW.length);
      const [at = 0, since = 0, until = 0, wallSince = 0, wallUntil = 0] = row;
      if (until === FAILED) {
        failed[at] = (failed[at] ?? 0) + 1;
        continue;
      }
      admitted[at] = (admitted[at] ?? 0) + 1;
      // One that ends after the key is on its way back may have met it.
      if (revoked[at]?.some(({ from, to }) => since > from && until < to)) contradictions += 1;
      const window = Math.floor(wallSince / WINDOW_MS);
      if (KEYS[at] === "limited" && window === Math.floor(wallUntil / WINDOW_MS)) {
        const name = `${at} ${window}`;
        windows.set(name, (windows.get(name) ?? 0) + 1);
      }
      const isSpanned = KEYS[at] === "sliding" || KEYS[at] === "bucket";
      if (isSpanned && wallUntil - wallSince <= KNOWN_WITHIN) instants[at]?.push(wallSince);
    }
  }
  const mostOf = (kind: Kind) =>
    instants.reduce((most, own, at) => (KEYS[at] === kind ? Math.max(most, mostIn(own)) : most), 0);
  let limited = 0;
  for (const count of windows.values()) limited = Math.max(limited, count);
  const most = { limited, sliding: mostOf("sliding"), bucket: mostOf("bucket") };
  return { admitted, failed, contradictions, most };
}

/** The most that was decided in a span, as far as that is known. */
function mostIn(instants: number[]): number {
  instants.sort((one, other) => one - other);
  let most = 0;
  let first = 0;
  for (const [at, instant] of instants.entries()) {
    // A span of so many ms has both its first and its last one.
    while (instant + KNOWN_WITHIN - (instants[first] ?? 0) >= WINDOW_MS) first += 1;
    most = Math.max(most, at - first + 1);
  }
  return most;
}
