import { readFileSync } from "node:fs";
import { KEYS, type Kind, WINDOW_MS } from "./keys.js";
import { FAILED, ROW } from "./workers.js";

/** A span in which a key must not be admitted: from the end of the revoking change to the start of the one that restores it. */
export interface Span {
  readonly from: number;
  to: number;
}

/** The combined records of all processes. */
export interface Admissions {
  /** By key. */
  readonly admitted: readonly number[];
  /** By key: verifications for which it is unknown whether the store took a use. */
  readonly failed: readonly number[];
  /** Admissions of a key while it was revoked. */
  readonly contradictions: number;
  /** Maximum admissions in a window, a sliding span, and a span of a bucket, over all keys of that kind. */
  readonly most: Readonly<Record<"limited" | "sliding" | "bucket", number>>;
}

/** In ms. A verification that takes longer was delayed, and the instant of its decision is unknown. */
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
      // One that ends after the restoring change has started may have seen it.
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

/** Maximum decisions in one span, counting only those with a known instant. */
function mostIn(instants: number[]): number {
  instants.sort((one, other) => one - other);
  let most = 0;
  let first = 0;
  for (const [at, instant] of instants.entries()) {
    // A span includes its first and its last ms.
    while (instant + KNOWN_WITHIN - (instants[first] ?? 0) >= WINDOW_MS) first += 1;
    most = Math.max(most, at - first + 1);
  }
  return most;
}
