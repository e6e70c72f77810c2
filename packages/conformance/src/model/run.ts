import assert from "node:assert/strict";
import {
  type Change,
  type ChargeMoment,
  type ChargePlan,
  type Expectation,
  type HourCount,
  type KeyStore,
  type LoadedRecord,
  type RecordAddress,
  STATISTICS_SPAN_MS,
  type StoredRecord,
  type Want,
} from "@latchkey/core";
import type { TestContext } from "../fixtures/context.js";
import { aChange, at, comparable, DAY, NOW, usesOf } from "../fixtures/records.js";
import {
  KINDS,
  LISTS,
  NAMES,
  NUMBERS,
  type Step,
  type StepOf,
  WINDOW_KINDS,
  WINDOWS,
  WORKSPACES,
} from "./arbitraries.js";
import { ModelStore } from "./model-store.js";

/** Farther than any sequence goes: that a request is forgotten at its instant is a contract of its own. */
const REMEMBER_UNTIL = NOW + 10_000 * DAY;
/** How far the clock may lie behind the latest instant it has shown. */
const MOST_BACK_MS = DAY / 2;

const ADDRESSES = KINDS.flatMap((kind) => NUMBERS.map((number) => at(kind, number)));
const CLAIMS = KINDS.flatMap((kind) =>
  ["a", "b"].flatMap((index) => NAMES.map((value) => ({ kind, index, value }))),
);
const WANTS: readonly Want[] = [...ADDRESSES, ...CLAIMS];

/** A random sequence on a store and on the model: each call goes to both, and their answers are compared. */
export class ModelRun {
  readonly #context: TestContext;
  readonly #model = new ModelStore();
  /** By workspace and address: the handle that the store answered last, of a record that may be gone by now. */
  readonly #handles = new Map<string, unknown>();
  /** Records that were deleted at some time. */
  readonly #deleted = new Set<string>();
  readonly #plans: ChargePlan[] = [];
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

  /** Two keys and an identity with counters, so that a sequence need not begin by making some. */
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

  /** Each connection in turn. */
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
      await this.#compareWindows(step.workspace);
  }

  /** The change that a step means, without what the port leaves open. */
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
    // A record that is written again after it was gone has no name that it did not claim anew.
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
      .map(({ address, ...moved }) => ({ ...address, ...moved }));
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
    // Through text: what is no JSON, such as -0, is not handed to a store.
    const body = JSON.parse(JSON.stringify(put.body));
    return { ...put.address, version: Math.max(0, version + put.rise), link: put.link, body };
  }

  /** Counters are shared with a record that has some, and that the same change leaves as it is. */
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
    const limits = step.limits
      .map((limit) => ({ ...limit, owner: ownerOf(limit.owner) }))
      .filter(
        ({ window, owner }, index, all) =>
          !all.slice(0, index).some((one) => one.window === window && one.owner === owner),
      )
      .map((limit, index) => ({ ...limit, name: `${index}`, ...WINDOW_KINDS[limit.window] }));
    const plan: ChargePlan = {
      workspaceId: workspace,
      revision: { any: null, "as it is": revision, moved: revision + 1 }[step.revision],
      confirms,
      mode,
      cost,
      uses: ownerOf(step.uses),
      limits,
    };
    this.#plans.push(plan);
    return plan;
  }

  async #charge(
    plan: ChargePlan | undefined,
    step: Pick<StepOf<"charge">, "move" | "refill" | "request">,
  ): Promise<void> {
    if (plan === undefined || !this.#hasCounters(plan)) return;
    this.#now = Math.max(this.#now + step.move, this.#latest - MOST_BACK_MS);
    this.#latest = Math.max(this.#latest, this.#now);
    const named = this.#isWrittenAgain(plan) ? null : step.request;
    const request = named && { ...named, rememberUntil: REMEMBER_UNTIL };
    const moment: ChargeMoment = {
      now: this.#now,
      refill: step.refill,
      ...(request && { request }),
    };
    const expected = this.#model.charge(plan, moment);
    const result = await this.#store.charge(plan, moment);
    assertAlike(result, expected, { plan: { ...plan, memo: undefined }, moment });
    await this.#read(plan.workspaceId);
  }

  /** The port leaves open whether a record that was deleted, and is written again, still has its requests. */
  #isWrittenAgain({ workspaceId, confirms: [first] }: ChargePlan): boolean {
    return first !== undefined && this.#deleted.has(nameIn(workspaceId, first));
  }

  /** The port says nothing of a plan that counts on a record without counters. */
  #hasCounters({ workspaceId, confirms, uses, limits }: ChargePlan): boolean {
    const counted = new Set([uses, ...limits.map(({ owner }) => owner)]);
    return confirms.every((address, index) => {
      const found = this.#model.find(workspaceId, address);
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
      for (const id of ["s1", "s2"]) await this.#compareStatistics(workspace, { kind, id });
    }
    await this.#compareWindows(workspace);
  }

  async #compareStatistics(
    workspace: string,
    subject: { readonly kind: "key" | "api"; readonly id: string },
  ): Promise<void> {
    const startAt = NOW - (NOW % STATISTICS_SPAN_MS) - DAY;
    for (const range of [
      { subject, startAt: 0, endAt: NOW + 100 * DAY },
      { subject, startAt, endAt: startAt + DAY },
    ]) {
      const sums = await this.#store.readStatistics(workspace, range);
      assertAlike(inOrder(sums), inOrder(this.#model.readStatistics(workspace, range)), range);
    }
  }

  /** Looks at each window of each record, and of the workspace. */
  async #compareWindows(workspace: string): Promise<void> {
    for (const address of [null, ...ADDRESSES]) {
      const found = address && this.#model.find(workspace, address);
      if (address !== null && !found?.usage) continue;
      const plan: ChargePlan = {
        workspaceId: workspace,
        revision: null,
        confirms: address === null ? [] : [{ ...address, version: "exists" }],
        mode: "peek",
        cost: 0,
        uses: null,
        limits: WINDOWS.map((window) => ({
          ...{ name: window, window, ...WINDOW_KINDS[window], limit: 1_000, burst: 1_000 },
          ...{ shadow: false, cost: 0 },
          owner: address === null ? null : 0,
        })),
      };
      const moment = { now: this.#latest, refill: null };
      const expected = this.#model.charge(plan, moment);
      assertAlike(await this.#store.charge(plan, moment), expected, { address });
    }
  }
}

/** Without what JSON does not show: fields that are undefined, prototypes. */
function assertAlike(actual: unknown, expected: unknown, call: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  // Most are alike to the letter: parsing them to compare their fields was a third of all sequences on memory.
  if (found === wanted) return;
  try {
    assert.deepEqual(JSON.parse(found), JSON.parse(wanted));
  } catch (error) {
    if (error instanceof assert.AssertionError)
      error.message += `\n\nof the call ${JSON.stringify(call)}`;
    throw error;
  }
}

function inOrder(sums: readonly HourCount[]): readonly string[] {
  return sums.map(({ hourAt, code, count }) => `${hourAt} ${code} ${count}`).toSorted();
}

const nameIn = (workspace: string, { kind, id }: RecordAddress): string =>
  JSON.stringify([workspace, kind, id]);

function isSame(one: RecordAddress, other: RecordAddress): boolean {
  return one.kind === other.kind && one.id === other.id;
}

function firstOfEach<Item extends RecordAddress>(items: readonly Item[]): readonly Item[] {
  return items.filter((item, index) => !items.slice(0, index).some((one) => isSame(one, item)));
}
