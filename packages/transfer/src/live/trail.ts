import {
  corruptRecord,
  type JsonValue,
  type KeyStore,
  type LoadedRecord,
  RECORD_KINDS,
  type RecordAddress,
  trailList,
} from "@latchkey/core";
import { PART_SIZE, pagesOf } from "../passes/source.js";
import { piecesOf } from "../pieces.js";
import { aChange } from "../records/changes.js";
import {
  type CopiedRecord,
  type Difference,
  readCopied,
  readSums,
  textOf,
  textWithoutStatistics,
} from "../records/copied-record.js";
import { assertInOwnList } from "../records/own-list.js";
import type { SharedCounters } from "../records/shared-counters.js";
import { subjectOf } from "../records/subject.js";
import { type FoundWindows, readNamedWindows } from "../records/windows.js";
import { type Target, writeDifferences } from "../records/write.js";
import { type SumsDifference, writeSums } from "../records/write-sums.js";
import { writeOwnWindows } from "../records/write-windows.js";
import { yieldToEventLoop } from "../yield.js";

/** What changed in a workspace while a trail was kept, and the records of the trail itself. */
export interface Trail {
  /** Each once, by kind and in ascending order of id: a key comes after the one it was rotated from. */
  readonly addresses: readonly RecordAddress[];
  /** Names of windows of the workspace. */
  readonly changedWindows: readonly string[];
  readonly recordIds: readonly string[];
  /** Whether a part of it cannot be read, so that some changes are unknown. */
  readonly isDamaged: boolean;
}

/** A trail without changes. */
export const EMPTY_TRAIL: Trail = {
  addresses: [],
  changedWindows: [],
  recordIds: [],
  isDamaged: false,
};

/** Trails that were followed, by workspace: what they name is on the target, but was not read there since. */
export class FollowedTrails {
  readonly #addresses = new Map<string, Map<string, RecordAddress>>();
  readonly #windows = new Map<string, Set<string>>();

  add(workspaceId: string, { addresses, changedWindows }: Trail): void {
    const known = this.#addresses.get(workspaceId) ?? new Map<string, RecordAddress>();
    for (const address of addresses) known.set(`${address.kind} ${address.id}`, address);
    this.#addresses.set(workspaceId, known);
    const windows = this.#windows.get(workspaceId) ?? new Set<string>();
    for (const name of changedWindows) windows.add(name);
    this.#windows.set(workspaceId, windows);
  }

  /** Adds the addresses of differences that a pass has found: `<workspace> <kind> <id>`. */
  addChanged(changed: ReadonlySet<string>): void {
    for (const text of changed) {
      const [workspaceId = "", kind, ...id] = text.split(" ");
      const address = { kind, id: id.join(" ") } as RecordAddress;
      this.add(workspaceId, { ...EMPTY_TRAIL, addresses: [address] });
    }
  }

  /** Whether they name a record, written as in {@link addChanged}. */
  hasAddress(text: string): boolean {
    const [workspaceId = "", ...address] = text.split(" ");
    return this.#addresses.get(workspaceId)?.has(address.join(" ")) === true;
  }

  get size(): number {
    const sizes = [...this.#addresses.values(), ...this.#windows.values()].map(({ size }) => size);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** What they name in a workspace. */
  in(workspaceId: string): Trail {
    const addresses = [...(this.#addresses.get(workspaceId)?.values() ?? [])].sort(byKindAndId);
    return {
      ...EMPTY_TRAIL,
      addresses,
      changedWindows: [...(this.#windows.get(workspaceId) ?? [])],
    };
  }
}

/** Reads a trail. It is complete once the state of the workspace names another trail. */
export async function readTrail(
  store: KeyStore,
  workspaceId: string,
  trail: string,
): Promise<Trail> {
  const addresses = new Map<string, RecordAddress>();
  const changedWindows = new Set<string>();
  const recordIds: string[] = [];
  let isDamaged = false;
  const list = { kind: "workspace", list: trailList(trail) } as const;
  for await (const { found } of pagesOf(store, workspaceId, list))
    for (const { record } of found) {
      recordIds.push(record.id);
      const changed = readTouched(record.body);
      if (changed === null) isDamaged = true;
      else if ("window" in changed) changedWindows.add(changed.window);
      else addresses.set(`${changed.kind} ${changed.id}`, changed);
    }
  return {
    addresses: [...addresses.values()].sort(byKindAndId),
    changedWindows: [...changedWindows],
    recordIds,
    isDamaged,
  };
}

function byKindAndId(one: RecordAddress, other: RecordAddress): number {
  const kinds = RECORD_KINDS.indexOf(one.kind) - RECORD_KINDS.indexOf(other.kind);
  return kinds || (one.id < other.id ? -1 : 1);
}

/**
 * The trail, with the keys that share counters with its own keys added. A trail names only the key that was used. That one may be deleted
 * since; what it took is in the counters of the others.
 */
export function withSharers(trail: Trail, shared: SharedCounters): Trail {
  const addresses = new Map<string, RecordAddress>();
  for (const address of trail.addresses) {
    addresses.set(`${address.kind} ${address.id}`, address);
    if (address.kind !== "key") continue;
    for (const id of shared.sharersOf(address.id)) addresses.set(`key ${id}`, { kind: "key", id });
  }
  return { ...trail, addresses: [...addresses.values()].sort(byKindAndId) };
}

/** What one record of a trail names; null if it is damaged. */
function readTouched(
  body: JsonValue | undefined,
): RecordAddress | { readonly window: string } | null {
  const { window, kind, id } = Object(body) as Readonly<Record<string, unknown>>;
  if (typeof window === "string") return { window };
  const known = RECORD_KINDS.find((name) => name === kind);
  return known !== undefined && typeof id === "string" ? { kind: known, id } : null;
}

/** How much there is to compare. */
export function sizeOf({ addresses, changedWindows }: Trail): number {
  return addresses.length + changedWindows.length;
}

/**
 * Updates records and windows of the target.
 *
 * @param onDone - Called with the number of each few hundred that have been compared.
 * @returns How many differed, in more than statistics.
 * @throws LatchkeyError `STORE_CORRUPT` for a damaged trail: calling the copy again compares everything; and for a damaged record.
 */
export async function followTrail(
  from: KeyStore,
  target: Target,
  { addresses, changedWindows, isDamaged }: Trail,
  onDone: (compared: number) => void = () => {},
): Promise<number> {
  if (isDamaged) throw corruptRecord("trail of a workspace");
  const { store, workspaceId } = target;
  let count = 0;
  for (const some of piecesOf(changedWindows, PART_SIZE)) {
    const [wanted, present] = await Promise.all(
      [from, store].map((each) => readNamedWindows(each, workspaceId, some)),
    );
    count += await writeOwnWindows(target, wanted as FoundWindows, present as FoundWindows);
    onDone(some.length);
  }
  for (const some of piecesOf(addresses, PART_SIZE)) {
    const [wanted, present] = await Promise.all([
      readAddresses(from, workspaceId, some),
      readAddresses(store, workspaceId, some),
    ]);
    for (const record of wanted) if (record !== null) target.shared.learnHolders(record);
    const differences = some.flatMap((_, index): Difference[] => {
      const pair = { wanted: wanted[index] ?? null, present: present[index] ?? null };
      return isSame(pair, textOf) ? [] : [pair];
    });
    await assertInOwnList(from, workspaceId, differences);
    if (differences.length > 0) await writeDifferences(target, differences);
    await copySumsOfGone(
      from,
      target,
      some.filter((_, index) => wanted[index] == null),
    );
    count += differences.filter((pair) => !isSame(pair, textWithoutStatistics)).length;
    onDone(some.length);
    await yieldToEventLoop();
  }
  return count;
}

/** Copies the sums of deleted records: they outlive their record, because they may be billed. */
async function copySumsOfGone(
  from: KeyStore,
  { store, workspaceId }: Target,
  addresses: readonly RecordAddress[],
): Promise<void> {
  const differences = addresses.map(async (address): Promise<SumsDifference[]> => {
    const subject = subjectOf(address);
    if (subject === null) return [];
    const [wanted, present] = await Promise.all([
      readSums(from, workspaceId, subject),
      readSums(store, workspaceId, subject),
    ]);
    return [{ subject, wanted, present }];
  });
  await writeSums(store, workspaceId, (await Promise.all(differences)).flat());
}

function isSame(
  { wanted, present }: Difference,
  textFrom: (record: CopiedRecord) => string,
): boolean {
  return (wanted && textFrom(wanted)) === (present && textFrom(present));
}

async function readAddresses(
  store: KeyStore,
  workspaceId: string,
  addresses: readonly RecordAddress[],
): Promise<readonly (CopiedRecord | null)[]> {
  const { found } = await store.read(workspaceId, addresses);
  const loaded = found.filter((each): each is LoadedRecord => each !== null);
  const copied = [...(await readCopied(store, workspaceId, loaded))];
  return found.map((each) => (each === null ? null : (copied.shift() ?? null)));
}

/** Deletes a trail that was followed. */
export async function clearTrail(
  store: KeyStore,
  workspaceId: string,
  trail: string,
  { recordIds }: Trail,
): Promise<void> {
  const list = trailList(trail);
  for (const ids of piecesOf(recordIds, PART_SIZE)) {
    await store.commit(
      workspaceId,
      aChange({
        deletes: ids.map((id) => ({ kind: "workspace", id })),
        leaves: ids.map((id) => ({ list, id })),
      }),
    );
  }
}
