import type {
  Change,
  ChargeMoment,
  ChargePlan,
  ChargeResult,
  Claim,
  CommitResult,
  Expectation,
  ListEntry,
  StoredRecord,
} from "@latchkey/core";
import {
  type ChangedUses,
  chargeOf,
  isOwed,
  type ModelCounter,
  newCounter,
  noteChange,
  type RememberedResult,
  usesAfter,
} from "./counter-model.js";
import { hasHeldUses, hasOver, holdsOf, type ModelHold, settleHold } from "./hold-model.js";
import type { ModelWindow } from "./limit-model.js";

/** A list, as one string. */
export const nameOfList = ({ list, of = "" }: Pick<ListEntry, "list" | "of">) => `${list} ${of}`;

/** A claim, as one string. */
export const nameOfClaim = ({ kind, index, value }: Claim) => `${kind} ${index} ${value}`;

/** A record in the model. Keys of one rotation share a counter. */
export interface ModelRecord {
  readonly record: StoredRecord;
  readonly counter: ModelCounter | null;
}

/** The contents of one workspace. Keys of the maps are strings made of a kind and an id, a claim, or a list. */
export class ModelWorkspace {
  revision = 0;
  readonly records = new Map<string, ModelRecord>();
  /** Id of the record that has each claim. */
  readonly claims = new Map<string, string>();
  readonly lists = new Map<string, Set<string>>();
  readonly windows = new Map<string, ModelWindow>();
  readonly requests = new Map<string, RememberedResult>();
  readonly holds = new Map<string, ModelHold>();
  /** Ids of records that the world has damaged. */
  readonly damaged = new Set<string>();

  get(kind: string, id: string): ModelRecord | undefined {
    return this.records.get(`${kind} ${id}`);
  }
}

/** The expected contents of a store after all its writes, implemented as simply as possible. */
export class StoreModel {
  readonly workspaces = new Map<string, ModelWorkspace>();

  at(workspaceId: string): ModelWorkspace {
    const known = this.workspaces.get(workspaceId);
    if (known !== undefined) return known;
    const made = new ModelWorkspace();
    this.workspaces.set(workspaceId, made);
    return made;
  }

  /** Whether a plan's revision and confirmations hold. */
  holds({ workspaceId, revision, confirms }: ChargePlan): boolean {
    const workspace = this.at(workspaceId);
    if (revision !== null && revision !== workspace.revision) return false;
    return confirms.every((one) => holds(workspace, one));
  }

  /** Applies a charge and returns its expected result. */
  charge(plan: ChargePlan, moment: ChargeMoment): ChargeResult {
    const { now, refill, request, ends } = moment;
    const { revision } = plan;
    const workspace = this.at(plan.workspaceId);
    if (ends !== undefined) settleHold(workspace, ends, { now, revision });
    if (plan.revision !== null && plan.revision !== workspace.revision)
      return { kind: "stale", moved: "revision" };
    const moved = plan.confirms.findIndex((one) => !holds(workspace, one));
    if (moved !== -1) return { kind: "stale", moved };
    const [first] = plan.confirms;
    const name = `${first?.kind} ${first?.id} ${request?.id}`;
    const remembered = request === undefined ? undefined : workspace.requests.get(name);
    if (request !== undefined && remembered !== undefined && remembered.until > now)
      return remembered.fingerprint === request.fingerprint
        ? { ...remembered.result, isRepeat: true }
        : { kind: "conflict" };
    const ofRecord = (place: number): ModelCounter | null => {
      const { kind, id } = plan.confirms[place] as Expectation;
      return workspace.get(kind, id)?.counter ?? null;
    };
    const beside = plan.confirms.map((_, place) => ofRecord(place));
    const over = beside.findIndex((own) => own !== null && hasOver(workspace, own, now));
    if (over !== -1) return { kind: "unsettled", record: over };
    const windows = plan.limits.map(({ owner }) =>
      owner === null ? workspace.windows : ofRecord(owner)?.windows,
    );
    const counter = plan.uses === null ? null : ofRecord(plan.uses);
    const isDue = refill !== null && counter !== null && isOwed(counter, refill);
    // What is carried over is counted before it is added.
    const isFirst = refill?.carry !== undefined || hasHeldUses(workspace, counter);
    if (plan.uses !== null && isDue && isFirst) return { kind: "unsettled", record: plan.uses };
    let held: ModelHold | undefined;
    // A hold of slots has no uses: those of its charge were taken for good.
    const cost = (): number =>
      held === undefined || held.usesOf === null || held.uses === 0 ? plan.cost : held.taken;
    let result = chargeOf(plan, counter, windows, now, refill, cost);
    if (result.kind === "charged" && plan.hold !== undefined) {
      const holds = holdsOf(plan, moment, beside, windows, result);
      for (const hold of holds) workspace.holds.set(hold.id, hold);
      [held] = holds;
      const { id, expiresAt } = held as ModelHold;
      result = { ...result, hold: { id, expiresAt } };
    }
    if (request !== undefined && plan.mode === "commit") {
      const { fingerprint, rememberUntil: until } = request;
      workspace.requests.set(name, { fingerprint, until, result });
    }
    return result;
  }

  /** The expected result of a change. It is not applied. */
  judge(workspaceId: string, change: Change): CommitResult {
    const workspace = this.at(workspaceId);
    const stale = change.expects.findIndex((one) => !holds(workspace, one));
    if (stale !== -1) return { kind: "stale", index: stale };
    const taken = firstTaken(workspace, change);
    if (taken !== -1) return { kind: "taken", index: taken };
    const usages: ChangedUses[] = [];
    const before = new Map<ModelCounter, ChangedUses>();
    for (const [index, { kind, id, usage }] of change.counters.entries()) {
      const counter = workspace.get(kind, id)?.counter as ModelCounter;
      const after = usesAfter(before.get(counter) ?? counter, usage);
      if (typeof after === "string")
        return { kind: "refused", index, reason: { kind: after } as never };
      before.set(counter, after);
      usages.push(after);
    }
    return { kind: "committed", usages };
  }

  /** Applies a change that was judged to be `committed`. */
  commit(workspaceId: string, change: Change, usages: readonly ChangedUses[]): void {
    const workspace = this.at(workspaceId);
    for (const [index, { kind, id, usage }] of change.counters.entries()) {
      const counter = workspace.get(kind, id)?.counter as ModelCounter;
      if (usage !== undefined) noteChange(counter, usage);
      if (usage?.operation.kind === "set")
        for (const hold of workspace.holds.values())
          if (hold.usesOf !== null && hold.beside[hold.usesOf] === counter) hold.isVoid = true;
      Object.assign(counter, usages[index]);
    }
    this.#write(workspace, change);
  }

  #write(workspace: ModelWorkspace, change: Change): void {
    for (const { kind, id, keepWindows, dropWindows = [] } of change.counters) {
      const windows = workspace.get(kind, id)?.counter?.windows;
      for (const name of [...(windows?.keys() ?? [])])
        if (dropWindows.includes(name) || keepWindows?.includes(name) === false)
          windows?.delete(name);
    }
    for (const { record, counters } of change.puts) {
      const name = `${record.kind} ${record.id}`;
      let counter = workspace.records.get(name)?.counter ?? null;
      if (counters !== undefined)
        counter =
          "sharedWith" in counters
            ? (workspace.get(record.kind, counters.sharedWith)?.counter ?? null)
            : newCounter(counters.usage);
      workspace.records.set(name, { record, counter });
    }
    for (const { kind, id } of change.deletes) workspace.records.delete(`${kind} ${id}`);
    const { records, holds } = workspace;
    const living = new Set(holds.size === 0 ? [] : [...records.values()].map((one) => one.counter));
    for (const hold of holds.values()) {
      hold.beside = hold.beside.map((own) => (living.has(own) ? own : null));
      if (hold.beside.every((own) => own === null)) holds.delete(hold.id);
    }
    for (const release of change.releases)
      if (workspace.claims.get(nameOfClaim(release)) === release.id)
        workspace.claims.delete(nameOfClaim(release));
    for (const claim of change.claims) workspace.claims.set(nameOfClaim(claim), claim.id);
    for (const entry of change.leaves) workspace.lists.get(nameOfList(entry))?.delete(entry.id);
    for (const entry of change.enters) {
      const ids = workspace.lists.get(nameOfList(entry)) ?? new Set();
      workspace.lists.set(nameOfList(entry), ids.add(entry.id));
    }
    for (const name of change.dropWindows) workspace.windows.delete(name);
    if (change.revision !== null) workspace.revision = change.revision;
  }
}

function holds(workspace: ModelWorkspace, { kind, id, version }: Expectation): boolean {
  const record = workspace.get(kind, id)?.record;
  return version === "exists" ? record !== undefined : (record?.version ?? null) === version;
}

function firstTaken(workspace: ModelWorkspace, { claims, releases }: Change): number {
  return claims.findIndex((claim, place) => {
    const name = nameOfClaim(claim);
    if (claims.slice(0, place).some((other) => nameOfClaim(other) === name)) return true;
    const holder = workspace.claims.get(name);
    if (holder === undefined || holder === claim.id) return false;
    if (releases.some((one) => nameOfClaim(one) === name && one.id === holder)) return false;
    return workspace.get(claim.kind, holder) !== undefined;
  });
}
