import type { IdentityRecord } from "../records/identity.js";
import type { KeyRecord } from "../records/key.js";
import { countedTags } from "../rules/keys/tags.js";
import type {
  ChargeCounts,
  CodeSums,
  CountedCode,
  StatisticsSubject,
} from "../store/statistics.js";

export interface CountedFor {
  readonly keyId: string;
  readonly apiId: string;
  readonly identityId: string | null;
  readonly tags: readonly string[];
}

export interface CountableKey {
  readonly key: Pick<KeyRecord, "id" | "apiId" | "workspaceId" | "tags" | "uncountedTags">;
  readonly identity: Pick<IdentityRecord, "id"> | null;
}

export function countedFor({ key, identity }: CountableKey): CountedFor {
  return {
    keyId: key.id,
    apiId: key.apiId,
    identityId: identity === null ? null : identity.id,
    tags: countedTags(key.tags, key.uncountedTags),
  };
}

export function subjectsOf(counted: CountedFor): readonly StatisticsSubject[] {
  const { keyId, apiId, identityId, tags } = counted;
  const subjects: StatisticsSubject[] = [
    { kind: "key", id: keyId },
    { kind: "api", id: apiId },
  ];
  if (identityId !== null) subjects.push({ kind: "identity", id: identityId });
  for (const id of tags) subjects.push({ kind: "tag", id });
  return subjects;
}

const REPEATED: CodeSums = { VALID: 1, FREE: 1 };

/** What a verification that is charged adds to the sums. `uses`: how many it takes for good. */
export function countsOfCharge(subjects: readonly StatisticsSubject[], uses: number): ChargeCounts {
  const extra = uses === 0 ? { FREE: 1 } : uses > 1 ? { EXTRA_USES: uses - 1 } : {};
  const sums = {
    charged: { VALID: 1, ...extra },
    repeat: REPEATED,
    "rate-limited": { RATE_LIMITED: 1 },
    "usage-exceeded": { USAGE_EXCEEDED: 1 },
  };
  return { subjects, sums };
}

/** What a verification that the records refuse adds to the sums, once they are confirmed. */
export function countsOfRefusal(
  subjects: readonly StatisticsSubject[],
  code: CountedCode,
): ChargeCounts {
  const sums = { [code]: 1 };
  return {
    subjects,
    sums: { charged: sums, repeat: sums, "rate-limited": sums, "usage-exceeded": sums },
  };
}
