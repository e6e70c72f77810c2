/** Most tags of one key. */
export const MAX_TAGS = 32;

/** What a tag of a key is made of. */
export const TAG_PATTERN = /^[A-Za-z0-9_.:-]{1,64}$/;

/** A list of tags as it is kept: in the order given, each once. */
export function tagSet(tags: readonly string[]): readonly string[] {
  return [...new Set(tags)];
}
