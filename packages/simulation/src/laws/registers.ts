import { type Call, hasResolved, type Loss, mayHaveHappened } from "../history.js";

/** A call that sets a value. */
export interface Setter<Value> {
  readonly call: Call;
  readonly value: Value;
  /** Whether the value is certainly set once the call has returned; otherwise the call may have kept the old one. */
  readonly isSure?: boolean;
}

/** One field of one record, which calls set. */
export interface Register<Value> {
  /** Possible values before the first of these calls. */
  readonly initial: readonly Value[];
  readonly setters: readonly Setter<Value>[];
  /** Id of the record: when the store loses a write of it on purpose, earlier values may come back. */
  readonly id: string;
}

/** Whether the store lost changes that had resolved, so that what a call deleted may be there again. A crash loses none of these. */
export function hasLostChanges(losses: readonly Loss[]): boolean {
  return losses.some(({ ids }) => ids.size > 0);
}

/**
 * The values that a call may see while it runs: those of setters that run at the same time, that of the last setter that ended before, and
 * those from before a loss, unless the field was set anew after it.
 */
export function possibleValues<Value>(
  { initial, setters, id }: Register<Value>,
  { startTick, endTick }: Pick<Call, "startTick" | "endTick">,
  losses: readonly Loss[],
): readonly Value[] {
  const sure = setters.filter(
    ({ call, isSure = true }) => isSure && hasResolved(call) && call.endTick < startTick,
  );
  /** Whether the value at a tick was certainly replaced before the call began. */
  const isOver = (tick: number): boolean => sure.some(({ call }) => call.startTick > tick);
  const revived = Math.max(
    -1,
    ...losses
      .filter(({ ids, tick }) => ids.has(id) && tick < endTick && !isOver(tick))
      .map(({ tick }) => tick),
  );
  const values = setters
    .filter(({ call }) => call.startTick < endTick && (mayHaveHappened(call) || hasResolved(call)))
    // A setter without an answer may still take effect at any time.
    .filter(({ call }) => {
      const endTick = hasResolved(call) ? call.endTick : Number.POSITIVE_INFINITY;
      return !isOver(endTick) || call.startTick < revived;
    })
    .map(({ value }) => value);
  return sure.length === 0 || revived >= 0 ? [...initial, ...values] : values;
}
