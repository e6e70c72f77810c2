/** An empty list, for the many places that would make one each. */
export const NO_ITEMS: readonly never[] = Object.freeze([]);
