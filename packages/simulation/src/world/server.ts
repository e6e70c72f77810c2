import { isDeepStrictEqual } from "node:util";
import type {
  Change,
  ChargeMoment,
  ChargePlan,
  ChargeResult,
  HoldMoment,
  HoldResult,
  HoldStep,
  KeyStore,
} from "@latchkey/core";
import { settleHold, toldOf } from "../model/hold-model.js";
import { restoreHolds } from "../model/restored-holds.js";
import { type ModelWorkspace, StoreModel } from "../model/store-model.js";
import { withoutHandles, withoutHandlesIn } from "./handles.js";
import type { Method } from "./methods.js";
import type { Scheduler } from "./scheduler.js";

/** One write that the store has carried out. */
export interface Write {
  readonly method: Method;
  readonly args: readonly unknown[];
  readonly result: unknown;
  /** Index of the process that sent it; -1: not a process of the plan. */
  readonly process: number;
  /** The true time. */
  readonly at: number;
  /** From this instant on, a crash does not lose it; infinite: a failover may lose it at any time. */
  readonly durableAt: number;
  /** Place of the write in the order of all events. */
  readonly tick: number;
}

/** Laws about a step that the store is about to make. Each returns how the step breaks it, or null. */
export interface StepLaws {
  readonly charge: Readonly<Record<string, StepLaw<ChargePlan, ChargeMoment>>>;
  readonly commit: Readonly<Record<string, StepLaw<Change, null>>>;
  readonly settle: Readonly<Record<string, StepLaw<HoldStep, HoldMoment>>>;
}

type StepLaw<Wanted, Moment> = (
  before: ModelWorkspace,
  wanted: Wanted,
  moment: Moment,
) => string | null;

/** A broken law, and how it was broken. */
export interface Violation {
  readonly law: string;
  readonly how: string;
}

const AS_IT_SHOULD = "each step of the store has the result of the model";

const WRITES: ReadonlySet<Method> = new Set([
  "commit",
  "charge",
  "settle",
  "addStatistics",
  "deleteStatistics",
  "forget",
]);

/** The store of a world: a memory store, and the history of its writes, so that it can lose the latest of them. */
export class StoreServer {
  #store: KeyStore;
  /** The expected contents of the store. */
  model = new StoreModel();
  readonly #scheduler: Scheduler;
  /** How long a change takes to become durable, in ms; null: a change is never durable, and a failover may lose it. */
  readonly #flushMs: number | null;
  /** All writes that were not lost. */
  writes: Write[] = [];
  /** All writes, including lost ones, and those of the stores before this one. */
  readonly log: Write[];
  /** How many of the first writes no crash or failover loses. */
  #safe = 0;
  /** Until this instant, every call fails. */
  downUntil = 0;
  /** Until this instant, changes and statistics are refused. */
  fullUntil = 0;
  /** Whether the keys have moved to another store. */
  isMoved = false;
  /** How often it has crashed or failed over. */
  crashes = 0;
  /** The first law broken by a step of the store; null: none. */
  broken: Violation | null = null;
  readonly #laws: StepLaws;

  /** `before`: the store that this one replaces. */
  constructor(scheduler: Scheduler, flushMs: number | null, laws: StepLaws, before?: StoreServer) {
    this.log = before?.log ?? [];
    this.#scheduler = scheduler;
    this.#store = scheduler.stores.open();
    this.#flushMs = flushMs;
    this.#laws = laws;
  }

  get isDown(): boolean {
    return this.#scheduler.now < this.downUntil;
  }

  get isFull(): boolean {
    return this.#scheduler.now < this.fullUntil;
  }

  /** How long a commit waits for its answer, until the change is durable, in ms. */
  get commitMs(): number {
    return this.#flushMs ?? 0;
  }

  /** Carries out a call that came over the network. Handles and memos of the store do not travel. */
  async call(method: Method, args: readonly unknown[], process: number): Promise<unknown> {
    return withoutHandles(await this.callAtOnce(method, withoutHandlesIn(method, args), process));
  }

  /** Carries out a call in the caller's process, and returns the store's answer as it is: a promise, or the value itself. */
  callAtOnce(method: Method, args: readonly unknown[], process: number): unknown {
    if (!WRITES.has(method)) return invoke(this.#store, method, args);
    const expected = this.#foresee(method, args, process >= 0);
    const result = invoke(this.#store, method, args);
    const [at, tick] = [this.#scheduler.now, this.#scheduler.nextTick()];
    const durableAt = this.#flushMs === null ? Number.POSITIVE_INFINITY : at + this.#flushMs;
    const note = (known: unknown): unknown => {
      const told = method === "settle" ? toldOf(known as HoldResult) : known;
      if (expected !== undefined && !isAlike(told, expected))
        this.#break(AS_IT_SHOULD, `${method}: ${asText(told)}, not ${asText(expected)}`);
      const write = { method, args, result: known, process, at, durableAt, tick };
      if (!hasWritten(write)) return known;
      const isCharged = method === "charge" && (known as ChargeResult).kind === "charged";
      if (this.isMoved && isCharged && (args[0] as ChargePlan).mode === "commit")
        this.#break("after a move, the old store admits nobody", `a charge by p${process}`);
      this.writes.push(write);
      this.log.push(write);
      return known;
    };
    return result instanceof Promise ? result.then(note) : note(result);
  }

  /** The expected result of a write; undefined: the model does not predict it. Updates the model. */
  #foresee(method: Method, args: readonly unknown[], isByLatchkey: boolean): unknown {
    if (method === "charge") {
      const [plan, moment] = args as [ChargePlan, ChargeMoment];
      const workspace = this.model.at(plan.workspaceId);
      const isHeld = this.model.holds(plan);
      if (isHeld && isByLatchkey)
        for (const [law, check] of Object.entries(this.#laws.charge))
          this.#break(law, check(workspace, plan, moment));
      const result = this.model.charge(plan, moment);
      // A copy reads windows as they are stored, with `now` 0, including those that the store may have swept.
      return moment.now === 0 ? undefined : result;
    }
    if (method === "settle") {
      const [workspaceId, step, moment] = args as [string, HoldStep, HoldMoment];
      const workspace = this.model.at(workspaceId);
      if (isByLatchkey)
        for (const [law, check] of Object.entries(this.#laws.settle))
          this.#break(law, check(workspace, step, moment));
      if (step.kind !== "restore") return settleHold(workspace, step, moment);
      restoreHolds(workspace, step);
      return undefined;
    }
    if (method !== "commit") return undefined;
    const [workspaceId, change] = args as [string, Change];
    const result = this.model.judge(workspaceId, change);
    if (result.kind !== "committed") return result;
    const workspace = this.model.at(workspaceId);
    if (isByLatchkey)
      for (const [law, check] of Object.entries(this.#laws.commit))
        this.#break(law, check(workspace, change, null));
    this.model.commit(workspaceId, change, result.usages);
    return result;
  }

  #break(law: string, how: string | null): void {
    if (how !== null) this.broken ??= { law, how };
  }

  /** The store itself, for checks without the network. */
  get store(): KeyStore {
    return this.#store;
  }

  /** How many writes a crash would lose now: those that are not durable yet. */
  get undurable(): number {
    const { now } = this.#scheduler;
    return this.writes.slice(this.#safe).filter(({ durableAt }) => durableAt > now).length;
  }

  /** From here on, failovers lose writes. */
  begin(): void {
    this.#safe = this.writes.length;
  }

  /**
   * Loses the latest writes, like a failover to a replica that has not received them.
   *
   * @returns The lost writes, in the order of writing.
   */
  async lose(count: number): Promise<readonly Write[]> {
    const kept = this.writes.slice(0, Math.max(this.#safe, this.writes.length - count));
    const lost = this.writes.slice(kept.length);
    if (lost.length === 0) return lost;
    const before = this.model;
    this.#store = this.#scheduler.stores.open();
    this.model = new StoreModel();
    await this.#replay(kept);
    this.inherit(before);
    return lost;
  }

  /** Takes over the ids of damaged records. */
  inherit({ workspaces }: StoreModel): void {
    for (const [id, { damaged }] of workspaces)
      for (const recordId of damaged) this.model.at(id).damaged.add(recordId);
  }

  async #replay(writes: readonly Write[]): Promise<void> {
    const { now } = this.#scheduler;
    for (const { method, args, at } of writes) {
      if (method === "commit") {
        const [workspaceId, change] = args as [string, Change];
        const result = this.model.judge(workspaceId, change);
        if (result.kind === "committed") this.model.commit(workspaceId, change, result.usages);
      }
      if (method === "settle") this.#foresee(method, args, false);
      if (method === "charge") this.model.charge(...(args as [ChargePlan, ChargeMoment]));
      // By today's clock, the store would sweep what it still had then.
      this.#scheduler.now = at;
      const answer = invoke(this.#store, method, args);
      this.#scheduler.now = now;
      await answer;
    }
    this.writes = [...writes];
  }
}

/** Compares two results. Of a refusal only the kind of its reason counts, not the numbers in it. */
function isAlike(one: unknown, other: unknown): boolean {
  const [told, expected] = [one, other].map((result) => {
    const { reason } = result as { readonly reason?: { readonly kind: string } };
    return { ...(result as object), reason: reason?.kind };
  }) as [object, object];
  const [is, should] = [asText(withoutSums(told)), asText(expected)];
  // Stores may order the fields in another way.
  return is === should || isDeepStrictEqual(JSON.parse(is), JSON.parse(should));
}

/** Sums of holds are internal to the store, and not compared. */
function withoutSums(told: object): object {
  if (!("usages" in told)) return told;
  const usages = told.usages as readonly { readonly holds?: unknown }[];
  return { ...told, usages: usages.map((usage) => ({ ...usage, holds: undefined })) };
}

function asText(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

function invoke(store: KeyStore, method: Method, args: readonly unknown[]): unknown {
  return (store[method] as (...given: readonly unknown[]) => unknown)(...args);
}

/** Results of charges and of hold steps that wrote nothing. */
const UNMOVED: ReadonlySet<string> = new Set([
  ...["stale", "conflict", "unsettled", "too-many-holds", "unknown", "over", "unnamed"],
]);

function hasWritten({ method, args, result }: Write): boolean {
  const kind = (result as { readonly kind?: string } | undefined)?.kind;
  if (method === "commit") return kind === "committed";
  // Repeats of charges stay in the history: a call got this answer, and replaying it changes nothing.
  if (method === "charge")
    return !UNMOVED.has(kind ?? "") || (args[1] as ChargeMoment).ends !== undefined;
  if (method === "settle")
    return !UNMOVED.has(kind ?? "") && (result as { isRepeat?: boolean }).isRepeat !== true;
  return true;
}

/** Ids of the records that a write changed. */
export function idsOf({ method, args }: Write): readonly string[] {
  if (method !== "commit") return [];
  const { puts, deletes, counters } = args[1] as Change;
  return [
    ...puts.map(({ record }) => record.id),
    ...deletes.map(({ id }) => id),
    ...counters.map(({ id }) => id),
  ];
}
