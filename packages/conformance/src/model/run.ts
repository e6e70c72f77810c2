import type {
  Change,
  ChargeMoment,
  ChargePlan,
  Expectation,
  HoldStep,
  KeyStore,
  LoadedRecord,
  RecordAddress,
  StoredRecord,
} from "@latchkey/core";
import type { TestContext } from "../fixtures/context.js";
import { holdId, holdIdOf } from "../fixtures/holds.js";
import { aChange, at, comparable, DAY, NOW, usesOf } from "../fixtures/records.js";
import { KINDS, LISTS, type Step, type StepOf, WORKSPACES } from "./arbitraries.js";
import { ADDRESSES, assertAlike, compareStatistics, compareWindows, WANTS } from "./comparing.js";
import { ModelStore } from "./model-store.js";
import { COUNTED, COUNTS, dueOf, endsOf, firstOfEach, isSame, nameIn, takenBy } from "./plans.js";

/** Longer than any sequence: another contract covers the instant at which a request is forgotten. */
const REMEMBER_UNTIL = NOW + 10_000 * DAY;
/** How far the clock may be behind the latest instant that it has shown, in ms. */
const MOST_BACK_MS = DAY / 2;

/** A random sequence on a store and on the model: each call goes to both, and the results are compared. */
export class ModelRun {
  readonly #context: TestContext;
  readonly #model = new ModelStore();
  /** By workspace and address: the handle that the store returned last, perhaps for a record that has been deleted since. */
  readonly #handles = new Map<string, unknown>();
  /** Records that were deleted at some time. */
  readonly #deleted = new Set<string>();
  readonly #plans: ChargePlan[] = [];
  /** How many ids of holds were given out. */
  #holds = 0;
  /** By workspace: ids of holds, the latest first. */
  readonly #held = new Map<string, string[]>();
  #now = NOW;
  #latest = NOW;
  #calls = 0;

  constructor(context: TestContext) {
    this.#context = context;
  }

  async run(steps: readonly Step[]): Promise<void> {
    await this.#begin();
    for (const step of steps) await this.#take(step);
    for (const workspace of WORKSPACES) await this.#compareAll(workspace);
  }

  /** Two keys and an identity with counters, so that sequences need not start by creating some. */
  async #begin(): Promise<void> {
    const puts = [at("key", 1), at("key", 2), at("identity", 1)].map((address) => ({
      record: { ...address, version: 1, link: at("identity", 1).id, body: null },
      counters: { usage: usesOf(5) },
    }));
    const change = aChange({ puts });
    for (const workspace of WORKSPACES)
      assertAlike(
        await this.#store.commit(workspace, change),
        this.#model.commit(workspace, change),
        change,
      );
  }

  /** The connections take turns. */
  get #store(): KeyStore {
    this.#calls += 1;
    return this.#calls % 2 === 0 ? this.#context.store : this.#context.other;
  }

  async #take(step: Step): Promise<void> {
    switch (step.type) {
      case "commit":
        return this.#commit(step);
      case "charge":
        return this.#charge(this.#planOf(step), step);
      case "charge again":
        return this.#charge(this.#plans.at(-1 - step.ago), step);
      case "settle":
        return this.#settle(step);
      case "refresh":
        this.#pass(step.move);
        await this.#refresh(step.workspace, step.address, step.refill);
        return;
      case "page":
        return this.#page(step);
      case "read":
        return this.#read(step.workspace);
      case "statistics":
        return this.#addStatistics(step);
      case "forget":
        return this.#forget(step);
      default:
        return step satisfies never;
    }
  }

  async #commit(step: StepOf<"commit">): Promise<void> {
    const change = this.#changeOf(step);
    const result = await this.#store.commit(step.workspace, change);
    assertAlike(result, this.#model.commit(step.workspace, change), { change });
    if (result.kind === "committed")
      for (const address of change.deletes) this.#deleted.add(nameIn(step.workspace, address));
    await this.#read(step.workspace);
    if (result.kind === "committed" && change.counters.length > 0)
      await compareWindows(this.#store, this.#model, step.workspace, this.#latest);
  }

  /** The change of a step, without anything that the port leaves open. */
  #changeOf(step: StepOf<"commit">): Change {
    const { workspace } = step;
    const isThere = (address: RecordAddress) => this.#model.find(workspace, address) !== null;
    const wanted = firstOfEach(step.puts.map((put) => ({ ...put, ...put.address })));
    const puts = wanted.map((put) => ({
      record: this.#recordOf(workspace, put),
      counters: this.#countersOf(workspace, put, wanted),
    }));
    const isPut = (address: RecordAddress) => puts.some(({ record }) => isSame(record, address));
    const deletes = step.deletes.filter((address) => !isPut(address));
    const isDeleted = (address: RecordAddress) => deletes.some((one) => isSame(one, address));
    const released = step.releases.map(({ address, index, value }) => ({
      ...{ kind: address.kind, index, value },
      id: address.id,
    }));
    // A record that is written again after its deletion has only the claims that it makes again.
    const haunting = puts
      .filter(({ record }) => !isThere(record))
      .flatMap(({ record }) =>
        this.#model.namesOf(workspace, record).map((name) => ({ ...name, id: record.id })),
      );
    const claims = step.claims
      .filter(({ address }) => (isPut(address) || isThere(address)) && !isDeleted(address))
      .map(({ address, index, value }) => ({ kind: address.kind, index, value, id: address.id }));
    const enters = step.enters.map(({ address, list }) => ({ ...list, id: address.id }));
    const leaves = step.leaves
      .map(({ address, list }) => ({ ...list, id: address.id }))
      .filter((one) => !enters.some((other) => JSON.stringify(other) === JSON.stringify(one)));
    const isRecounted = (address: RecordAddress) =>
      puts.some(({ record, counters }) => counters !== undefined && isSame(record, address));
    const counters = step.counters
      .filter(({ address }) => this.#model.find(workspace, address)?.usage)
      .filter(({ address }) => !isRecounted(address) && !isDeleted(address))
      .map(({ address, usage, ...moved }) => ({
        ...address,
        ...moved,
        ...(usage && {
          usage: { ...usage, due: dueOf(this.#model, workspace, address, usage.due) },
        }),
      }));
    return {
      expects: step.expects.map((expected) => this.#expectationOf(workspace, expected)),
      puts: puts.map(({ record, counters: held }) =>
        held ? { record, counters: held } : { record },
      ),
      deletes,
      claims: claims.filter(
        (claim, index) =>
          !claims.slice(0, index).some((one) => JSON.stringify(one) === JSON.stringify(claim)),
      ),
      releases: [...released, ...haunting],
      enters,
      leaves,
      counters,
      dropWindows: step.dropWindows,
      revision: step.revision,
    };
  }

  #recordOf(workspace: string, put: StepOf<"commit">["puts"][number]): StoredRecord {
    const version = this.#model.find(workspace, put.address)?.record.version ?? 0;
    // Through JSON, so that a store gets nothing that JSON cannot express, such as -0.
    const body = JSON.parse(JSON.stringify(put.body));
    return { ...put.address, version: Math.max(0, version + put.rise), link: put.link, body };
  }

  /** Counters can be shared only with a record that has some, and that the same change does not touch. */
  #countersOf(
    workspace: string,
    { counters, address }: StepOf<"commit">["puts"][number],
    puts: readonly RecordAddress[],
  ) {
    if (counters === null || "usage" in counters) return counters ?? undefined;
    const sharedWith = at(address.kind, counters.sharedWith);
    const isLeft = !puts.some((put) => isSame(put, sharedWith));
    const hasCounters = this.#model.find(workspace, sharedWith)?.usage;
    return hasCounters && isLeft ? { sharedWith: sharedWith.id } : undefined;
  }

  #expectationOf(
    workspace: string,
    { address, relation, hasHandle }: StepOf<"commit">["expects"][number],
  ): Expectation {
    const current = this.#model.find(workspace, address)?.record.version ?? null;
    const versions = {
      "as it is": current,
      exists: "exists",
      absent: null,
      moved: (current ?? 0) + 1,
    } as const;
    const handle = this.#handles.get(nameIn(workspace, address));
    const expected = { ...address, version: versions[relation] };
    return hasHandle && handle !== undefined ? { ...expected, handle } : expected;
  }

  #planOf(step: StepOf<"charge">): ChargePlan {
    const { workspace, mode, cost } = step;
    const revision = this.#model.revision(workspace);
    const confirms = firstOfEach(
      step.confirms.map((expected) => this.#expectationOf(workspace, expected)),
    );
    const ownerOf = (owner: number | null) =>
      owner !== null && owner < confirms.length ? owner : null;
    const { limits, hold } = takenBy(step, confirms, ownerOf);
    const plan: ChargePlan = {
      workspaceId: workspace,
      revision: { any: null, "as it is": revision, moved: revision + 1 }[step.revision],
      confirms,
      mode,
      cost,
      uses: ownerOf(step.uses),
      limits,
      hold,
      ...(this.#isCounted(this.#plans.length) && { counts: COUNTS }),
    };
    this.#plans.push(plan);
    return plan;
  }

  async #charge(
    plan: ChargePlan | undefined,
    step: Pick<StepOf<"charge">, "move" | "refill" | "request">,
  ): Promise<void> {
    if (plan === undefined || !this.#hasCounters(plan)) return;
    this.#pass(step.move);
    const { workspaceId } = plan;
    const takesForgotten = plan.limits.some(
      ({ owner, window }) =>
        owner === null && this.#model.mayBeForgotten(workspaceId, window, this.#latest),
    );
    if (takesForgotten) return;
    const named = this.#isWrittenAgain(plan) ? null : step.request;
    const request = named && { ...named, rememberUntil: REMEMBER_UNTIL };
    const drawn = plan.uses === null ? undefined : plan.confirms[plan.uses];
    for (;;) {
      const moment: ChargeMoment = {
        now: this.#now,
        refill: drawn === undefined ? null : dueOf(this.#model, workspaceId, drawn, step.refill),
        ...(request && { request }),
        ...(plan.hold && { holdId: holdIdOf(plan.hold, ++this.#holds) }),
        ...endsOf(plan, this.#plans.length, this.#held.get(workspaceId)),
      };
      const expected = this.#model.charge(plan, moment);
      const result = await this.#store.charge(plan, moment);
      assertAlike(result, expected, { plan: { ...plan, memo: undefined }, moment });
      if ("hold" in result && result.hold !== undefined)
        this.#held.set(workspaceId, [result.hold.id, ...(this.#held.get(workspaceId) ?? [])]);
      const of = result.kind === "unsettled" ? plan.confirms[result.record] : undefined;
      if (of === undefined) break;
      const settles = await this.#refresh(workspaceId, of, of === drawn ? step.refill : null);
      if (!settles) break;
    }
    await this.#read(workspaceId);
  }

  /** Counts every second one, if the store counts in the step. */
  #isCounted(number: number): boolean {
    return number % 2 === 1 && this.#context.store.countsInStep === true;
  }

  #pass(move: number): void {
    this.#now = Math.max(this.#now + move, this.#latest - MOST_BACK_MS);
    this.#latest = Math.max(this.#latest, this.#now);
  }

  async #settle({ workspace, ago, step, revision, move }: StepOf<"settle">): Promise<void> {
    this.#pass(move);
    const current = this.#model.revision(workspace);
    const held = this.#held.get(workspace) ?? [];
    await this.#takeStep(
      workspace,
      { ...step, id: held[Math.min(ago, held.length - 1)] ?? holdId(0) },
      { any: null, "as it is": current, moved: current + 1 }[revision],
    );
    await this.#read(workspace);
  }

  /** @returns Whether it changed what a charge waits for. */
  async #refresh(
    workspace: string,
    { kind, id }: RecordAddress,
    refill: StepOf<"refresh">["refill"],
  ): Promise<boolean> {
    const of = { kind, id };
    const usageOf = () => JSON.stringify(this.#model.find(workspace, of)?.usage);
    const before = usageOf();
    const due = dueOf(this.#model, workspace, of, refill);
    await this.#takeStep(workspace, { kind: "refresh", of, refill: due }, null);
    await this.#read(workspace);
    return usageOf() !== before;
  }

  async #takeStep(workspace: string, step: HoldStep, revision: number | null): Promise<void> {
    const moment = {
      now: this.#now,
      revision,
      ...(this.#isCounted(this.#holds) && { counts: COUNTED }),
    };
    const expected = this.#model.settle(workspace, step, moment);
    const result = await this.#store.settle(workspace, step, moment);
    assertAlike(result, expected, { step, moment });
  }

  /** The port does not say whether a record that was deleted and written again still has its requests. */
  #isWrittenAgain({ workspaceId, confirms: [first] }: ChargePlan): boolean {
    return first !== undefined && this.#deleted.has(nameIn(workspaceId, first));
  }

  /** The port does not cover a plan that counts on a record without counters. */
  #hasCounters({ workspaceId, confirms, uses, limits, hold }: ChargePlan): boolean {
    const counted = new Set([uses, ...limits.map(({ owner }) => owner)]);
    return confirms.every((address, index) => {
      const found = this.#model.find(workspaceId, address);
      if (index < (hold?.most.length ?? 0)) return Boolean(found?.usage);
      return !counted.has(index) || found === null || found.usage !== null;
    });
  }

  async #page({ workspace, type: _, list, ...want }: StepOf<"page">): Promise<void> {
    const whole = { ...want, ...list };
    const result = await this.#store.page(workspace, whole);
    const { found, revision, hasMore, size } = result;
    const actual = { revision, found: found.map(comparable), hasMore, size };
    assertAlike(actual, this.#model.page(workspace, whole), whole);
  }

  /** Everything that can be found by id or by name. */
  async #read(workspace: string): Promise<void> {
    const { revision, found } = await this.#store.read(workspace, WANTS);
    assertAlike(
      { revision, found: found.map(comparable) },
      {
        revision: this.#model.revision(workspace),
        found: WANTS.map((want) => this.#model.find(workspace, want)),
      },
      { workspace },
    );
    for (const loaded of found) this.#keepHandle(workspace, loaded);
  }

  #keepHandle(workspace: string, loaded: LoadedRecord | null): void {
    for (const state of [loaded, loaded?.linked ?? null]) {
      if (state?.handle === undefined) continue;
      const { kind, id } = state.record;
      this.#handles.set(nameIn(workspace, { kind, id }), state.handle);
    }
  }

  async #addStatistics({ workspace, counts, uses }: StepOf<"statistics">): Promise<void> {
    const batch = { counts, uses: uses.map(({ address, usedAt }) => ({ ...address, usedAt })) };
    await this.#store.addStatistics(workspace, batch);
    this.#model.addStatistics(workspace, batch);
  }

  async #forget({ workspace, days }: StepOf<"forget">): Promise<void> {
    const beforeAt = NOW - (NOW % DAY) + days * DAY;
    const expected = this.#model.deleteStatistics(workspace, beforeAt);
    const { deleted } = await this.#store.deleteStatistics(workspace, beforeAt, 1_000);
    assertAlike(deleted, expected, { beforeAt });
  }

  async #compareAll(workspace: StepOf<"page">["workspace"]): Promise<void> {
    await this.#read(workspace);
    for (const list of LISTS) {
      for (const kind of KINDS) {
        for (const limit of [1, 10])
          await this.#page({
            type: "page",
            workspace,
            kind,
            list,
            after: null,
            limit,
            descending: limit > 1,
          });
      }
    }
    for (const kind of ["key", "api"] as const) {
      for (const id of ["s1", "s2"])
        await compareStatistics(this.#store, this.#model, workspace, { kind, id });
    }
    await compareWindows(this.#store, this.#model, workspace, this.#latest);
    for (const address of ADDRESSES) {
      const held = await this.#store.holds(workspace, address, null, 1_000);
      assertAlike(held, this.#model.holds(workspace, address), { address });
    }
  }
}
