import type { HoldSums, WindowDrop } from "../rules/hold.js";
import type {
  Change,
  Claim,
  CommitResult,
  CounterChange,
  Expectation,
  RecordAddress,
} from "../store/change.js";
import { changeUsage, NO_USAGE_CHANGE, type Usage } from "../store/counters.js";

/** A store's records. `Counters` stands for the counters of a record: one object for all records that share them. */
export interface HeldRecords<Counters> {
  /** Null if there is no such record. */
  version(address: RecordAddress): number | null;
  /** Id of the existing record that has a name; undefined for none. */
  holder(claim: Claim): string | undefined;
  /** Null for none. */
  counters(address: RecordAddress): Counters | null;
  usage(counters: Counters): Usage;
}

/** A change that may be written, with the resulting usage for each set of counters. */
type Judged<Counters> = Extract<CommitResult, { kind: "committed" }> & {
  readonly moved: ReadonlyMap<Counters, Usage>;
};

/** Checks a change in the order that `Change` names: expectations, claims, counters. A store then writes it without further checks. */
export function judgeChange<Counters>(
  { expects, claims, releases, counters }: Change,
  held: HeldRecords<Counters>,
): Judged<Counters> | Exclude<CommitResult, { kind: "committed" }> {
  const stale = expects.findIndex((each) => !isVersion(held.version(each), each.version));
  if (stale !== -1) return { kind: "stale", index: stale };
  const claimed = new Set<string>();
  const taken = claims.findIndex((claim) => {
    const name = nameOf(claim);
    if (claimed.size === claimed.add(name).size) return true;
    const holder = held.holder(claim) ?? claim.id;
    const isReleased = () => releases.some((one) => one.id === holder && nameOf(one) === name);
    return holder !== claim.id && !isReleased();
  });
  if (taken !== -1) return { kind: "taken", index: taken };
  const moved = new Map<Counters, Usage>();
  const usages: Usage[] = [];
  for (const [index, change] of counters.entries()) {
    const { usage = NO_USAGE_CHANGE, kind, id } = change;
    const own = held.counters({ kind, id });
    if (own === null) throw new TypeError(`the change names a ${kind} without counters`);
    const result = changeUsage(moved.get(own) ?? held.usage(own), usage);
    if (result.kind !== "changed") return { kind: "refused", index, reason: result };
    moved.set(own, afterDrops(result.usage, change));
    usages.push(result.usage);
  }
  return { kind: "committed", usages, moved };
}

/** The usage after windows were dropped: holds return nothing to them. */
function afterDrops(usage: Usage, { keepWindows, dropWindows }: CounterChange): Usage {
  const { holds } = usage;
  if (holds === undefined || (keepWindows === undefined && dropWindows === undefined)) return usage;
  let { drops } = holds;
  if (keepWindows !== undefined) drops = dropsWith(holds, drops, keepWindows, true);
  if (dropWindows !== undefined) drops = dropsWith(holds, drops, dropWindows, false);
  return { ...usage, holds: { ...holds, drops } };
}

/** A drop replaces an earlier one of the same windows, because it covers all holds of that one. So repeating it adds nothing. */
function dropsWith(
  { next }: HoldSums,
  drops: readonly WindowDrop[],
  windows: readonly string[],
  isKept: boolean,
): readonly WindowDrop[] {
  const names = windows.join();
  const others = drops.filter((each) => each.isKept !== isKept || each.windows.join() !== names);
  return [...others, { before: next, windows, isKept }];
}

/** Whether the version of a record (null for none) is as expected. */
export function isVersion(version: number | null, expected: Expectation["version"]): boolean {
  return expected === "exists" ? version !== null : expected === version;
}

/** Neither a kind nor an index contains a space; a value may contain anything, and comes last. */
const nameOf = ({ kind, index, value }: Claim) => `${kind} ${index} ${value}`;
