import type { ChargeResult, LimitCharge } from "@latchkey/core";

/** Most holds that are remembered. */
const MOST_KNOWN = 10_000;

/**
 * Windows of the workspace from which holds made through this store have taken units. A script needs the names of all Redis keys that it
 * touches, and only the hold has them: without this cache, it takes two calls. `shared`: the Redis key of that name of the workspace.
 */
export class HeldWindows {
  readonly #known = new Map<string, readonly string[]>();

  remember(shared: string, limits: readonly LimitCharge[], result: ChargeResult): void {
    if (!("hold" in result) || result.hold === undefined) return;
    const windows = limits.filter(({ owner, cost }) => owner === null && cost > 0);
    if (windows.length === 0) return;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    const names = windows.map(({ window }) => window);
    this.#known.set(`${shared} ${result.hold.id}`, names);
  }

  of(shared: string, holdId: string): readonly string[] {
    return this.#known.get(`${shared} ${holdId}`) ?? [];
  }

  forget(shared: string, holdId: string): void {
    this.#known.delete(`${shared} ${holdId}`);
  }
}
