/** What a check of a store found. */
export interface Finding {
  readonly check: string;
  /** `wrong`: it needs attention. `mended`: it was wrong, and is repaired. */
  readonly state: "fine" | "wrong" | "mended";
  readonly found: string;
}

/** A finding without a problem. */
export function fine(check: string, found: string): Finding {
  return { check, state: "fine", found };
}

/** A problem. */
export function wrong(check: string, found: string): Finding {
  return { check, state: "wrong", found };
}

/** A problem that can be repaired. It is repaired if `isWanted`. */
export async function mendable(
  check: string,
  found: string,
  isWanted: boolean,
  mend: () => Promise<unknown>,
): Promise<Finding> {
  if (!isWanted) return wrong(check, `${found}; --fix mends it`);
  await mend();
  return { check, state: "mended", found };
}
