/**
 * Name of the limit that a key's `ratelimit` field sets. It applies to every verification of the key by itself, whether or not
 * `autoApply` says so, and its state is the `ratelimit` of a verdict.
 */
export const DEFAULT_LIMIT = "default";

/** Whether a limit applies to every verification by itself, and not only to those that name it. */
export function isAutoApplied(limit: {
  readonly name: string;
  readonly autoApply?: boolean | undefined;
}): boolean {
  return limit.name === DEFAULT_LIMIT || limit.autoApply === true;
}
