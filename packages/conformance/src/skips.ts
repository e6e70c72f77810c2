/** Leaves out one test of the suite. */
export interface Skip {
  /** The title of the test, word for word. */
  readonly test: string;
  /** Why the store does not pass; shown with the skipped test. */
  readonly reason: string;
}

/** A failing test for each skip that names no test of the suite, or gives no reason. */
export function brokenSkips(
  skips: readonly Skip[],
  titles: readonly string[],
): readonly { readonly title: string; readonly message: string }[] {
  return skips.flatMap(({ test, reason }) => {
    if (!titles.includes(test)) {
      const message = `no test of the suite is called "${test}"`;
      return [{ title: `a skip names a test of the suite: "${test}"`, message }];
    }
    if (reason.trim() !== "") return [];
    const message = `the skip of "${test}" gives no reason`;
    return [{ title: `a skip gives a reason: "${test}"`, message }];
  });
}
