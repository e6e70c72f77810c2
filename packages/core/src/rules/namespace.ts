/** What a rate limit that belongs to no key is for. Never `*`, which stands for all of them in permissions. */
export const NAMESPACE_PATTERN = /^[A-Za-z0-9_.:-]{1,128}$/;
