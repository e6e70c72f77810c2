/** Most tags of one key. */
export const MAX_TAGS = 32;

/** What a tag of a key is made of. */
export const TAG_PATTERN = /^[A-Za-z0-9_.:-]{1,64}$/;

/** Most tags of a workspace for which verifications are counted: those that keys had first. */
export const MAX_COUNTED_TAGS = 1_000;

/** What verifications are counted for whose keys have tags beyond those. */
export const OTHER_TAG = "other";

/** The tags that a key is counted for, each once. */
export function countedTags(
  tags: readonly string[],
  uncounted: readonly string[],
): readonly string[] {
  if (uncounted.length === 0) return tags;
  return [...new Set(tags.map((tag) => (uncounted.includes(tag) ? OTHER_TAG : tag)))];
}
