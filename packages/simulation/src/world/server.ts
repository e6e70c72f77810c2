import type {
  Change,
  ChargeMoment,
  ChargePlan,
  ChargeResult,
  CommitResult,
  HoldMoment,
  HoldResult,
  HoldStep,
  KeyStore,
  LoadedRecord,
  StoreMethod,
} from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { settleHold, toldOf } from "../model/hold-model.js";
import { type ModelWorkspace, StoreModel } from "../model/store-model.js";
import type { Scheduler } from "./scheduler.js";

/** The methods of a store that a process calls over the network. */
export type Method = Exclude<StoreMethod, "close" | "readClock">;

/** One write that the store has carried out. */
export interface Write {
  readonly method: Method;
  readonly args: readonly unknown[];
  readonly result: unknown;
  /** Which process sent it; -1: nobody of the plan. */
  readonly process: number;
  /** The true time. */
  readonly at: number;
  /** From when on no crash loses it; infinite where a failover may. */
  readonly durableAt: number;
  /** Place of the write in the order of all that happens. */
  readonly tick: number;
}

/** Says what is wrong with a step that the store is about to carry out, or null. */
export interface StepLaws {
  readonly charge: Readonly<Record<string, StepLaw<ChargePlan, ChargeMoment>>>;
  readonly commit: Readonly<Record<string, StepLaw<Change, null>>>;
}

type StepLaw<Wanted, Moment> = (
  before: ModelWorkspace,
  wanted: Wanted,
  moment: Moment,
) => string | null;

/** What broke a law. */
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

/** The one store of a world: the memory store, and the history of what was written to it, so that it can lose the end of it. */
export class StoreServer {
  #store = memoryStore();
  /** What the store has to hold. */
  model = new StoreModel();
  readonly #scheduler: Scheduler;
  /** How long a change takes to become durable; null: it never is, and a failover may lose it. */
  readonly #flushMs: number | null;
  /** Everything that was written and not lost. */
  writes: Write[] = [];
  /** The same with what was lost. */
  readonly log: Write[];
  /** How many of them no crash loses, whenever they were written. */
  #safe = 0;
  /** Until when it answers nobody. */
  downUntil = 0;
  /** Until when there is no room for changes. */
  fullUntil = 0;
  /** Whether its keys have moved to another store. */
  isMoved = false;
  /** How often it crashed, or failed over. */
  crashes = 0;
  /** The first law that a step of the store broke. */
  broken: Violation | null = null;
  readonly #laws: StepLaws;

  /** `before`: the store that this one takes the place of. */
  constructor(scheduler: Scheduler, flushMs: number | null, laws: StepLaws, before?: StoreServer) {
    this.log = before?.log ?? [];
    this.#scheduler = scheduler;
    this.#flushMs = flushMs;
    this.#laws = laws;
  }

  get isDown(): boolean {
    return this.#scheduler.now < this.downUntil;
  }

  get isFull(): boolean {
    return this.#scheduler.now < this.fullUntil;
  }

  /** How long whoever commits waits until it is durable. */
  get commitMs(): number {
    return this.#flushMs ?? 0;
  }

  /** Carries a call out that came over the network: nothing of the store's own travels. */
  async call(method: Method, args: readonly unknown[], process: number): Promise<unknown> {
    return withoutHandles(await this.callAtOnce(method, unshared(method, args), process));
  }

  /** Carries a call out in the process of the caller, who gets what the store answers: at once, where it does. */
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

  /** What a write has to come to; undefined: that is not foreseen. */
  #foresee(method: Method, args: readonly unknown[], isByLatchkey: boolean): unknown {
    if (method === "charge") {
      const [plan, moment] = args as [ChargePlan, ChargeMoment];
      const workspace = this.model.at(plan.workspaceId);
      const isHeld = this.model.holds(plan);
      for (const [law, check] of Object.entries(this.#laws.charge))
        if (isHeld && isByLatchkey) this.#break(law, check(workspace, plan, moment));
      const result = this.model.charge(plan, moment);
      // Whoever copies asks for windows as they are stored, also for those that time may have swept.
      return moment.now === 0 ? undefined : result;
    }
    if (method === "settle") {
      const [workspaceId, step, moment] = args as [string, HoldStep, HoldMoment];
      return settleHold(this.model.at(workspaceId), step, moment);
    }
    if (method !== "commit") return undefined;
    const [workspaceId, change] = args as [string, Change];
    const result = this.model.judge(workspaceId, change);
    if (result.kind !== "committed") return result;
    const workspace = this.model.at(workspaceId);
    for (const [law, check] of Object.entries(this.#laws.commit))
      if (isByLatchkey) this.#break(law, check(workspace, change, null));
    this.model.commit(workspaceId, change, result.usages);
    return result;
  }

  #break(law: string, how: string | null): void {
    if (how !== null) this.broken ??= { law, how };
  }

  /** The store as it is, for looking into it without the network. */
  get store(): KeyStore {
    return this.#store;
  }

  /** What a crash loses now: all that is not durable yet. */
  get undurable(): number {
    const { now } = this.#scheduler;
    return this.writes.slice(this.#safe).filter(({ durableAt }) => durableAt > now).length;
  }

  /** Carries out what every schedule like this one begins with; no failover loses that. */
  async begin(writes: readonly Write[]): Promise<void> {
    await this.#replay(writes);
    this.#safe = writes.length;
  }

  /**
   * Loses the latest writes, as a failover to a replica that had not heard of them does.
   *
   * @returns What was lost, in the order in which it was written.
   */
  async lose(count: number): Promise<readonly Write[]> {
    const kept = this.writes.slice(0, Math.max(this.#safe, this.writes.length - count));
    const lost = this.writes.slice(kept.length);
    const before = this.model;
    this.#store = memoryStore();
    this.model = new StoreModel();
    await this.#replay(kept);
    this.inherit(before);
    return lost;
  }

  /** Takes over what is known to be damaged. */
  inherit({ workspaces }: StoreModel): void {
    for (const [id, { damaged }] of workspaces)
      for (const recordId of damaged) this.model.at(id).damaged.add(recordId);
  }

  async #replay(writes: readonly Write[]): Promise<void> {
    for (const { method, args } of writes) {
      if (method === "commit") {
        const [workspaceId, change] = args as [string, Change];
        const result = this.model.judge(workspaceId, change);
        if (result.kind === "committed") this.model.commit(workspaceId, change, result.usages);
      }
      if (method === "settle") this.#foresee(method, args, false);
      if (method === "charge") this.model.charge(...(args as [ChargePlan, ChargeMoment]));
      await invoke(this.#store, method, args);
    }
    this.writes = [...writes];
  }
}

/** Of a change that is refused the reason is told apart, and not the numbers in it. */
function isAlike(one: unknown, other: unknown): boolean {
  const [{ reason, ...told }, { reason: why, ...expected }] = [one, other] as [
    CommitResult & { readonly reason?: { readonly kind: string } },
    CommitResult & { readonly reason?: { readonly kind: string } },
  ];
  return reason?.kind === why?.kind && asText(withoutSums(told)) === asText(expected);
}

/** What counters know of the holds beside them is the store's own. */
function withoutSums(told: object): object {
  if (!("usages" in told)) return told;
  const usages = told.usages as readonly { readonly holds?: unknown }[];
  return { ...told, usages: usages.map(({ holds: _, ...usage }) => usage) };
}

function asText(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

function invoke(store: KeyStore, method: Method, args: readonly unknown[]): unknown {
  return (store[method] as (...given: readonly unknown[]) => unknown)(...args);
}

/** A store may keep something of its own with a plan or a record: that of the store before would mean nothing to the next one. */
function unshared(method: Method, args: readonly unknown[]): readonly unknown[] {
  if (method === "charge") {
    const [plan, ...rest] = args as [ChargePlan, ChargeMoment];
    const { memo: _, confirms, ...own } = plan;
    return [{ ...own, confirms: confirms.map(withoutHandle) }, ...rest];
  }
  if (method !== "commit") return args;
  const [workspaceId, change] = args as [string, Change];
  return [workspaceId, { ...change, expects: change.expects.map(withoutHandle) }];
}

function withoutHandle<Item extends { readonly handle?: unknown }>(item: Item): Item {
  const { handle: _, ...own } = item;
  return own as Item;
}

/** What read and page answer, without what only helps the store itself. */
function withoutHandles(result: unknown): unknown {
  const found = (result as { readonly found?: readonly (LoadedRecord | null)[] } | undefined)
    ?.found;
  if (found === undefined) return result;
  return {
    ...(result as object),
    found: found.map((loaded) =>
      loaded === null
        ? null
        : withoutHandle({
            ...loaded,
            linked: loaded.linked === null ? null : withoutHandle(loaded.linked),
          }),
    ),
  };
}

/** Results of charges and of steps of holds that moved nothing. */
const UNMOVED: ReadonlySet<string> = new Set([
  ...["stale", "conflict", "unsettled", "too-many-holds", "unknown", "over", "unnamed"],
]);

function hasWritten({ method, result }: Write): boolean {
  const kind = (result as { readonly kind?: string } | undefined)?.kind;
  if (method === "commit") return kind === "committed";
  // The repeat of a charge is what somebody was answered, and moves nothing when it is carried out again.
  if (method === "charge") return !UNMOVED.has(kind ?? "");
  if (method === "settle")
    return !UNMOVED.has(kind ?? "") && (result as { isRepeat?: boolean }).isRepeat !== true;
  return true;
}
