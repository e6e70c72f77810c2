import { shortDigest } from "../secrets/hash.js";
import type { CountedCode, StatisticsSubject, SubjectCount, SumCode } from "../store/statistics.js";
import type { EpochMs } from "../time.js";
import { bucketStartAt, type Granularity, inOrder, isCounted } from "./buckets.js";

/** Subjects that usage is grouped by. */
export const USAGE_SUBJECTS = ["key", "identity", "api", "tag"] as const;

/** One of {@link USAGE_SUBJECTS}. */
export type UsageSubject = (typeof USAGE_SUBJECTS)[number];

/** Verifications of a key, or of the keys of an identity, an API or a tag, in one past span of UTC. */
export interface UsageRow {
  /** `usage_…`, the same in every export. */
  readonly id: string;
  /** Start of the span, Unix epoch ms. */
  readonly start: EpochMs;
  /** With `by: "key"`. */
  readonly keyId?: string;
  /** With `by: "identity"`. */
  readonly identityId?: string;
  /** With `by: "api"`. */
  readonly apiId?: string;
  /** With `by: "tag"`: a tag of keys; `other` for all after the first 1,000 of the workspace. */
  readonly tag?: string;
  /** Verifications by verdict, as in `VerificationBucket`. */
  readonly outcomes: Readonly<Partial<Record<CountedCode, number>>>;
  /**
   * Uses that valid verifications took: 1 each, or their `cost`, also for keys with unlimited uses; for reservations, the settled cost. A
   * repeat of a `requestId` takes none.
   */
  readonly uses: number;
}

const FIELD = { key: "keyId", identity: "identityId", api: "apiId", tag: "tag" } as const;

export interface UsageRowPlace {
  readonly subject: StatisticsSubject;
  readonly start: EpochMs;
}

/** Sums hourly counts into rows, one per subject and bucket, ordered by the subject's id, then by start. `sums`: whole buckets. */
export function toUsageRows(
  sums: readonly SubjectCount[],
  granularity: Granularity,
  workspaceId: string,
): readonly (UsageRow & UsageRowPlace)[] {
  const rows = new Map<string, UsageRowPlace & { readonly counts: Map<SumCode, number> }>();
  for (const { subject, hourAt, code, count } of sums) {
    const start = bucketStartAt(hourAt, granularity);
    const name = `${start} ${subject.id}`;
    const row = rows.get(name) ?? { subject, start, counts: new Map() };
    rows.set(name, row);
    row.counts.set(code, (row.counts.get(code) ?? 0) + count);
  }
  return [...rows.values()].sort(inRowOrder).map(({ subject, start, counts }) => {
    const { kind, id } = subject;
    return {
      id: `usage_${shortDigest([workspaceId, granularity, kind, id, start])}`,
      start,
      [FIELD[kind]]: id,
      outcomes: inOrder(Object.fromEntries([...counts].filter(([code]) => isCounted(code)))),
      uses: usesIn(counts),
      subject,
    };
  });
}

export function inRowOrder(one: UsageRowPlace, other: UsageRowPlace): number {
  if (one.subject.id !== other.subject.id) return one.subject.id < other.subject.id ? -1 : 1;
  return one.start - other.start;
}

function usesIn(counts: ReadonlyMap<SumCode, number>): number {
  const { VALID = 0, EXTRA_USES = 0, FREE = 0 } = Object.fromEntries(counts);
  return Math.min(VALID - FREE + EXTRA_USES, Number.MAX_SAFE_INTEGER);
}
