import type { LimitKind, LimitState } from "../rules/limit-state.js";
import { slidingWithoutEmpty } from "../rules/sliding-window.js";
import type { LimitReading } from "./charge.js";

/**
 * The stored state that a `peek` at `AS_STORED` read, as a copy recreates it: without empty groups at either end, and without the inflow
 * counter of a bucket. Null if no state is stored, or nothing is taken.
 *
 * @param kind - Kind of the limit.
 */
export function stateOfReading({ state }: LimitReading, kind: LimitKind): LimitState | null {
  const { at, used, earlier } =
    kind.algorithm === "sliding" ? slidingWithoutEmpty(state, kind) : state;
  const kept = kind.algorithm === "token-bucket" ? earlier.slice(0, 1) : earlier;
  const last = kept.findLastIndex((count) => count > 0);
  return used === 0 && last === -1 ? null : { at, used, earlier: kept.slice(0, last + 1) };
}
