import assert from "node:assert/strict";
import type { KeyStore, Page, PageRequest } from "@latchkey/core";
import fc from "fast-check";
import { WORKSPACES } from "./model-arbitraries.js";
import { lookAt } from "./model-charge.js";
import { countedSubjects } from "./model-counter-steps.js";
import { getVerifications, inOrderOfHour } from "./model-counters.js";
import { listedGrants } from "./model-grant-steps.js";
import { identitiesOf } from "./model-identity-steps.js";
import { findKey, getKey, listKeys, loadKey } from "./model-keys.js";
import { listChanges } from "./model-log.js";
import { inOrder } from "./model-page.js";
import { STEPS } from "./model-steps.js";
import { comparable, openWorld, type World } from "./model-world.js";
import { readAll } from "./scene.js";
import type { Stage, StorePromise } from "./store-promise.js";

const RUNS = 40;
const MAX_STEPS = 60;

export const modelPromises: readonly StorePromise[] = [
  {
    title: "any sequence of calls is answered as the rules of core say",
    check: ({ openEmpty }) => checkAgainstModel(openEmpty, process.env),
    timeoutMs: 60_000 * Math.max(1, Number(process.env.LATCHKEY_MODEL_RUNS ?? "1")),
  },
];

/**
 * Runs random sequences of calls on stores and on the model, and compares every answer, and at the end everything
 * that can be read.
 *
 * @param environment - `LATCHKEY_MODEL_RUNS=10` runs ten times as many sequences,
 * `LATCHKEY_MODEL_SEED=<seed>` repeats the ones that a failure printed.
 *
 * @throws The first difference, with the shortest sequence found that shows it, the seed and the path.
 */
export async function checkAgainstModel(
  openEmpty: () => Promise<Stage>,
  environment: { readonly [name: string]: string | undefined },
): Promise<void> {
  const { LATCHKEY_MODEL_RUNS: times = "1", LATCHKEY_MODEL_SEED: seed } = environment;
  await fc.assert(
    fc.asyncProperty(fc.commands(STEPS, { maxCommands: MAX_STEPS, size: "max" }), async (steps) => {
      const stage = await openEmpty();
      try {
        const world = await openWorld(stage);
        await fc.asyncModelRun(() => ({ model: world, real: stage }), steps);
        // Either handle may keep what it once read; comparing through both would double most of the time.
        await compareEverything(world.count() % 2 === 0 ? stage.store : stage.other, world);
      } finally {
        await stage.close();
      }
    }),
    { numRuns: Math.ceil(RUNS * Number(times)), ...(seed !== undefined && { seed: Number(seed) }) },
  );
}

async function compareEverything(store: KeyStore, world: World): Promise<void> {
  for (const workspaceId of WORKSPACES) {
    await compareTenant(store, world, workspaceId);
    await compareIdentities(store, world, workspaceId);
    await compareCounts(store, world, workspaceId);
    await compareLog(store, world, workspaceId);
  }
  await compareKeys(store, world);
}

async function compareTenant(store: KeyStore, world: World, workspaceId: string): Promise<void> {
  const { model } = world;
  const isOwn = (item: { readonly workspaceId: string }) => item.workspaceId === workspaceId;
  const { permissions, roles } = listedGrants(world, workspaceId);
  assertAlike(await store.getWorkspace(workspaceId), model.workspace(workspaceId));
  assertAlike(await store.listPermissions(workspaceId), permissions);
  assertAlike(await store.listRoles(workspaceId), roles);
  await comparePages((page) => store.listApis(workspaceId, page), model.apis.filter(isOwn), idOf);
  const rootKeys = model.rootKeys.filter(isOwn);
  await comparePages((page) => store.listRootKeys(workspaceId, page), rootKeys, idOf);
}

async function compareIdentities(store: KeyStore, world: World, workspaceId: string) {
  await comparePages(
    (page) => store.listIdentities(workspaceId, page),
    identitiesOf(world, workspaceId),
    ({ identity }) => identity.id,
  );
}

async function compareCounts(store: KeyStore, { model }: World, workspaceId: string) {
  for (const subject of countedSubjects(model, workspaceId)) {
    const asked = [workspaceId, subject, 0, Number.MAX_SAFE_INTEGER] as const;
    const counts = inOrderOfHour(await store.getVerifications(...asked));
    assertAlike(counts, getVerifications(model, ...asked));
  }
}

async function compareLog(store: KeyStore, { model }: World, workspaceId: string) {
  const page = { beforeId: null, limit: 100 };
  const asked = [workspaceId, { kind: "all" }, page] as const;
  assertAlike(await store.listChanges(...asked), listChanges(model, ...asked));
}

async function compareKeys(store: KeyStore, world: World): Promise<void> {
  const { model } = world;
  for (const { workspaceId, id } of model.apis) {
    for (const identityId of [null, ...model.identities.map(({ record }) => record.id)]) {
      const filter = { identityId };
      const all = { afterId: null, limit: 100 };
      const expected = listKeys(model, workspaceId, id, identityId, all);
      await comparePages(
        (page) => store.listKeys(workspaceId, id, filter, page),
        expected.items,
        ({ key }) => key.id,
        expected.total,
      );
    }
  }
  for (const { id, hash, workspaceId } of world.everyKey) {
    assertAlike(await store.getKey(workspaceId, id), getKey(model, workspaceId, id));
    assertAlike(await store.findKey(hash, workspaceId), findKey(model, hash, workspaceId));
  }
  for (const key of model.keys.filter(({ record }) => model.hasApi(record))) {
    const { actual, expected } = await lookAt(store, world, loadKey(model, key));
    assertAlike(actual, expected);
  }
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

async function comparePages<Item>(
  readPage: (page: PageRequest) => Promise<Page<Item>>,
  expected: readonly Item[],
  idOfItem: (item: Item) => string,
  expectedTotal = expected.length,
): Promise<void> {
  const { items, total } = await readAll(readPage, idOfItem, 2);
  assertAlike(items, inOrder(expected, idOfItem));
  assertAlike(total, expectedTotal);
}

function assertAlike(actual: unknown, expected: unknown): void {
  assert.deepEqual(comparable(actual), comparable(expected));
}
