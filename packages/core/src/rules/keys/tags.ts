export const MAX_TAGS = 32;

export const TAG_PATTERN = /^[A-Za-z0-9_.:-]{1,64}$/;

/** Maximum number of tags of a workspace that verifications are counted for: the first tags that its keys had. */
export const MAX_COUNTED_TAGS = 1_000;

/** Verifications of keys with tags beyond {@link MAX_COUNTED_TAGS} are counted for this tag. */
export const OTHER_TAG = "other";

/** The tags that a key is counted for, each once. */
export function countedTags(
  tags: readonly string[],
  uncounted: readonly string[],
): readonly string[] {
  if (uncounted.length === 0) return tags;
  return [...new Set(tags.map((tag) => (uncounted.includes(tag) ? OTHER_TAG : tag)))];
}
