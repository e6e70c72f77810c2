import assert from "node:assert/strict";
import type { KeyStore } from "@latchkey/core";
import fc from "fast-check";
import { WORKSPACES } from "./model-arbitraries.js";
import { lookAt } from "./model-charge.js";
import { STEPS } from "./model-steps.js";
import { comparable, openWorld, type World } from "./model-world.js";
import { readAll } from "./scene.js";
import type { Stage, StorePromise } from "./store-promise.js";

const RUNS = 60;
const MAX_STEPS = 40;

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
        await compareEverything(stage.store, world);
        if (stage.other !== stage.store) await compareEverything(stage.other, world);
      } finally {
        await stage.close();
      }
    }),
    { numRuns: Math.ceil(RUNS * Number(times)), ...(seed !== undefined && { seed: Number(seed) }) },
  );
}

async function compareEverything(store: KeyStore, world: World): Promise<void> {
  const { model } = world;
  for (const workspaceId of WORKSPACES) {
    assertAlike(await store.getWorkspace(workspaceId), model.workspace(workspaceId));
    const identities = await readAll(
      (page) => store.listIdentities(workspaceId, page),
      ({ id }) => id,
      2,
    );
    assertAlike(
      identities.items,
      model.listIdentities(workspaceId, { afterId: null, limit: 100 }).items,
    );
  }
  for (const { workspaceId, id } of model.apis) {
    for (const identityId of [null, ...model.identities.map((identity) => identity.id)]) {
      const filter = { identityId };
      const listed = await readAll(
        (page) => store.listKeys(workspaceId, id, filter, page),
        ({ key }) => key.id,
        2,
      );
      const expected = model.listKeys(workspaceId, id, identityId, { afterId: null, limit: 100 });
      assertAlike(listed.items, expected.items);
      assertAlike(listed.total, expected.total);
    }
  }
  for (const { id, hash, workspaceId } of world.everyKey) {
    assertAlike(
      await store.getKey(workspaceId, id),
      model.findKey((key) => key.id === id),
    );
    const isNamed = (key: { hash: string; workspaceId: string }) =>
      key.hash === hash && key.workspaceId === workspaceId;
    assertAlike(await store.findKey(hash, workspaceId), model.findKey(isNamed));
  }
  for (const key of model.keys.filter(({ record }) => model.hasApi(record))) {
    const { actual, expected } = await lookAt(store, world, model.load(key));
    assertAlike(actual, expected);
  }
}

function assertAlike(actual: unknown, expected: unknown): void {
  assert.deepEqual(comparable(actual), comparable(expected));
}
