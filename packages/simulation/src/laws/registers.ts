import { type Call, hasResolved, type Loss, mayHaveHappened } from "../history.js";

/** Something that a call sets. */
export interface Setter<Value> {
  readonly call: Call;
  readonly value: Value;
  /** Whether it has certainly set this if it returned; otherwise it may have left what was there. */
  readonly isSure?: boolean;
}

/** What is set by calls, one field of one record. */
export interface Register<Value> {
  /** What it may be before the first of them. */
  readonly initial: readonly Value[];
  readonly setters: readonly Setter<Value>[];
  /** The record: what the store loses of it on purpose may come back. */
  readonly id: string;
}

/**
 * The values that a call may see while it lasts: that of a call under way, or of the last that was over before, or of what came before a
 * loss, unless it was set anew after.
 */
export function possibleValues<Value>(
  { initial, setters, id }: Register<Value>,
  { startTick, endTick }: Pick<Call, "startTick" | "endTick">,
  losses: readonly Loss[],
): readonly Value[] {
  const sure = setters.filter(
    ({ call, isSure = true }) => isSure && hasResolved(call) && call.endTick < startTick,
  );
  /** Whether what was there at a tick was certainly set anew before the look. */
  const isOver = (tick: number): boolean => sure.some(({ call }) => call.startTick > tick);
  const revived = Math.max(
    -1,
    ...losses
      .filter(({ ids, tick }) => ids.has(id) && tick < endTick && !isOver(tick))
      .map(({ tick }) => tick),
  );
  const values = setters
    .filter(({ call }) => call.startTick < endTick && (mayHaveHappened(call) || hasResolved(call)))
    // What nobody answered may still be on its way.
    .filter(({ call }) => {
      const endTick = hasResolved(call) ? call.endTick : Number.POSITIVE_INFINITY;
      return !isOver(endTick) || call.startTick < revived;
    })
    .map(({ value }) => value);
  return sure.length === 0 || revived >= 0 ? [...initial, ...values] : values;
}
