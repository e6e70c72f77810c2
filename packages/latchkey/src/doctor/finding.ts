/** What a doctor found out. */
export interface Finding {
  readonly check: string;
  /** `wrong`: it needs somebody. `mended`: it was wrong. */
  readonly state: "fine" | "wrong" | "mended";
  readonly found: string;
}

/** A finding that all is well. */
export function fine(check: string, found: string): Finding {
  return { check, state: "fine", found };
}

/** A finding that something is wrong. */
export function wrong(check: string, found: string): Finding {
  return { check, state: "wrong", found };
}

/** What is wrong, mended where that was asked for. */
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
