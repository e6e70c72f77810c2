import assert from "node:assert/strict";
import {
  type ChangeLog,
  type ChangeRecord,
  type ChangeType,
  type IdentityRecord,
  type KeyRecord,
  type KeyStore,
  type LoggedChange,
  NO_CHANGES,
} from "@latchkey/core";
import fc from "fast-check";
import {
  aChange,
  aKey,
  aKeyLimit,
  aNewKey,
  anApi,
  anIdentity,
  aSharedLimit,
  NOW,
} from "./fixtures.js";
import { WORKSPACES } from "./model-arbitraries.js";
import { insertKeys } from "./model-keys.js";
import { Model } from "./model-state.js";
import { insertApi } from "./model-tenants.js";
import type { Stage } from "./store-promise.js";

/** The model, and what steps need beside it. */
export class World {
  readonly model = new Model();
  now = NOW;
  /** The latest instant so far: time may go back. */
  latest = NOW;
  /** Every key that was ever inserted, also those that were deleted since. */
  readonly everyKey: KeyRecord[] = [];
  /** A handle that each key was once loaded with. */
  readonly handles = new Map<string, unknown>();
  #counted = 0;

  /** One entry of the audit log. Ids do not come in ascending order, as those of several processes do not. */
  entry(
    workspaceId: string,
    type: ChangeType,
    resourceId: string,
    fields: Partial<ChangeRecord> = {},
  ): LoggedChange {
    const number = this.count();
    const actor = [null, "root_1", "root_2"][number % 3] as string | null;
    const change = aChange(number ^ 3, { workspaceId, type, resourceId, actor, ...fields });
    return { change, ifCreated: false };
  }

  /** The log of a write with one entry, or now and then with none, as where the log is switched off. */
  log(...[workspaceId, ...rest]: Parameters<World["entry"]>): ChangeLog {
    return this.count() % 5 === 0 ? NO_CHANGES : [this.entry(workspaceId, ...rest)];
  }

  /** A number that was not given before. */
  count(): number {
    this.#counted += 1;
    return this.#counted;
  }
}

/** Mostly one of the items, sometimes none of them. */
export function choose<Item>(items: readonly Item[], pick: number): Item | undefined {
  return pick % 10 === 9 ? undefined : items[pick % items.length];
}

/** What a store answered, and what the model says that it has to answer. */
export interface Answers {
  readonly actual: unknown;
  readonly expected: unknown;
}

/** One kind of step: which input it takes, and how it is run on a store and on the model. */
export interface StepKind<Input> {
  readonly title: string;
  readonly input: fc.Arbitrary<Input>;
  readonly run: (input: Input, world: World, store: KeyStore) => Promise<Answers>;
  /** Whether the port says what the answer is: where two refusals are due, it does not say which. */
  readonly isClear?: (input: Input, world: World) => boolean;
}

/** The step as it is; for the types of its input. */
export function kind<Input>(step: StepKind<Input>): StepKind<Input> {
  return step;
}

export function workspaceAt(index: number): string {
  return WORKSPACES[index] as string;
}

/** A candidate, which is linked to whoever has its external id. */
export function candidate(world: World, workspace: number, externalId: string): IdentityRecord {
  return anIdentity(world.count(), { workspaceId: workspaceAt(workspace), externalId });
}

type Command = fc.AsyncCommand<World, Stage>;

/**
 * A world that starts with one API in each workspace, and in the first two keys of one identity: without them,
 * most steps would meet nothing.
 */
export async function openWorld({ store }: Stage): Promise<World> {
  const world = new World();
  const { model, everyKey } = world;
  for (const workspaceId of WORKSPACES) {
    const api = anApi(world.count(), { workspaceId });
    const log = world.log(workspaceId, "api.created", api.id);
    await store.insertApi(api, log);
    insertApi(model, api, log);
  }
  const identity = anIdentity(world.count(), {
    externalId: "ann",
    ratelimits: [aSharedLimit("a", 4)],
  });
  for (const limit of [2, 5]) {
    const number = world.count();
    const key = aKey(number, { ratelimits: [aKeyLimit("default", limit)] });
    const newKey = aNewKey(key, { identity, usage: { remaining: 2 * limit, refilledAt: NOW } });
    await store.insertKeys([newKey], NO_CHANGES);
    insertKeys(model, [newKey], NO_CHANGES);
    everyKey.push(key);
  }
  return world;
}

/** Steps of a kind, as commands of fast-check. */
export function commandsOf<Input>(kind: StepKind<Input>): fc.Arbitrary<Command> {
  return fc.tuple(kind.input, fc.boolean()).map(([input, isOther]) => ({
    check: (world) => kind.isClear?.(input, world as World) ?? true,
    run: async (world, { store, other }) => {
      const { actual, expected } = await kind.run(input, world, isOther ? other : store);
      assert.deepEqual(comparable(actual), comparable(expected));
    },
    toString: () => `${kind.title} ${fc.stringify(input)}${isOther ? " by the other handle" : ""}`,
  }));
}

/**
 * An answer without handles, which are the store's own, and epochs, which it may raise more often than it must. Which
 * identity a key was linked to whose identity was deleted, a store may still say or not.
 */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value)
    .filter(([name]) => name !== "handle" && name !== "epoch")
    .map(([name, member]) => [name, name === "created" ? sorted(member) : comparable(member)]);
  const plain = Object.fromEntries(members);
  return isUnlinkedKey(plain) ? { ...plain, key: { ...plain.key, identityId: null } } : plain;
}

/** Ids of what was made on demand come in any order. */
function sorted(ids: unknown): unknown {
  return Array.isArray(ids) ? ids.toSorted() : ids;
}

function isUnlinkedKey(value: object): value is { readonly key: object } {
  return "key" in value && "identity" in value && value.identity === null;
}
