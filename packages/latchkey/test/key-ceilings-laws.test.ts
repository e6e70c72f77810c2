import type { Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf, seedsOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";

const plaintextOf = (at: number) => `old_3f9c2a7d51e84b06${at}`;

interface Held {
  readonly keyId: string;
  readonly apiId: string;
  readonly owner: string | undefined;
  readonly isRotated: boolean;
}

/** A place: the id of an API and the owner. */
const placeOf = ({ apiId, owner }: Pick<Held, "apiId" | "owner">) => `${apiId} ${owner}`;

/** All keys, and those that count towards the ceiling, by place. */
async function keysByPlace(latchkey: Latchkey, apiIds: readonly string[]) {
  const keys: Held[] = [];
  for (const apiId of apiIds)
    for await (const { id: keyId, ownerId: owner, rotatedTo } of latchkey.keysOf({ apiId }))
      keys.push({ keyId, apiId, owner, isRotated: rotatedTo !== undefined });
  const places = new Map<string, string[]>();
  for (const key of keys)
    if (key.owner !== undefined && !key.isRotated)
      places.set(placeOf(key), [...(places.get(placeOf(key)) ?? []), key.keyId]);
  return { keys, places };
}

/** Whether that many more places are free. */
function hasPlaces(
  places: ReadonlyMap<string, readonly string[]>,
  maxima: ReadonlyMap<string, number>,
  wanted: readonly string[],
): boolean {
  const sums = new Map<string, number>();
  for (const place of wanted)
    sums.set(place, (sums.get(place) ?? places.get(place)?.length ?? 0) + 1);
  return [...sums].every(([place, sum]) => sum <= (maxima.get(place.split(" ")[0] ?? "") ?? 0));
}

const REFUSALS = /^(above-ceiling|key-rotated|NOT_FOUND)$/;

/** A possible next step, and the places that it takes. */
interface Step {
  readonly title: string;
  readonly takes: readonly string[];
  readonly run: (latchkey: Latchkey) => Promise<unknown>;
}

function drawStep(
  chance: Chance,
  { keys }: { readonly keys: readonly Held[] },
  apiIds: readonly string[],
  unique: number,
): Step {
  const externalId = chance.pick(["u", "v"]);
  const apiId = chance.pick(apiIds);
  const enabled = chance.below(2) === 0;
  const keysBecome = chance.pick(["unlink", "disable", "delete"] as const);
  const given = { apiId, externalId };
  const create: Step = {
    title: "createKey",
    takes: [placeOf({ apiId, owner: externalId })],
    run: (latchkey) => latchkey.createKey({ ...given, enabled }),
  };
  if (keys.length === 0) return create;
  const one = chance.pick(keys);
  const chosen = keys.filter(() => chance.below(3) === 0).slice(0, 3);
  const moved = chosen.length === 0 ? [one] : chosen;
  const takenBy = (some: readonly Held[]) =>
    some.flatMap(({ apiId, owner, isRotated }) =>
      owner === externalId || isRotated ? [] : [placeOf({ apiId, owner: externalId })],
    );
  const imported = Array.from({ length: 1 + chance.below(3) }, (_, at) => ({
    ...{ plaintext: plaintextOf(unique + at), apiId },
    externalId: chance.pick(["u", "v"]),
  }));
  const owner = { externalId };
  const idOf = async (latchkey: Latchkey) => (await latchkey.getIdentity(owner)).id;
  const isThere = keys.some((key) => key.owner === externalId);
  const free = (title: string, run: Step["run"]): Step => ({ title, takes: [], run });
  return chance.pick([
    ...[create, create, create],
    {
      title: "createKeys",
      takes: imported.map(({ apiId, externalId: owner }) => placeOf({ apiId, owner })),
      run: (latchkey) => latchkey.createKeys(imported),
    },
    free("createKeys partial", (latchkey) => latchkey.createKeys(imported, { partial: true })),
    {
      title: "updateKey",
      takes: takenBy([one]),
      run: (latchkey) => latchkey.updateKey({ keyId: one.keyId, externalId }),
    },
    {
      title: "updateKeys",
      takes: takenBy(moved),
      run: (latchkey) =>
        latchkey.updateKeys({ keyIds: moved.map(({ keyId }) => keyId), externalId }),
    },
    free("unlink", (latchkey) => latchkey.updateKey({ keyId: one.keyId, externalId: null })),
    free("deleteKey", (latchkey) => latchkey.deleteKey({ keyId: one.keyId })),
    free("disableKeys", (latchkey) => latchkey.disableKeys(given)),
    free("enableKeys", (latchkey) => latchkey.enableKeys(owner)),
    ...(one.isRotated
      ? []
      : [free("rotateKey", (latchkey) => latchkey.rotateKey({ keyId: one.keyId, graceMs: "1d" }))]),
    ...(isThere
      ? [
          free("deleteIdentity", async (latchkey) =>
            latchkey.deleteIdentity({
              identityId: await idOf(latchkey),
              keys: keysBecome,
            }),
          ),
          free("eraseIdentity", (latchkey) => latchkey.eraseIdentity(owner)),
        ]
      : []),
  ]);
}

describeOnEveryStore("the ceiling on the keys of an identity, as a law", (open, runsOf) => {
  test.each(seedsOf(runsOf(1)))(
    "K1: whatever is done to keys and owners, by several processes at once, and refused only for want of a place, seed %i",
    async (seed) => {
      const context = open();
      const chance = chanceOf(seed);
      const processes = [context.latchkey, context.another(), context.another()];
      const maxima = new Map<string, number>();
      for (const maxKeysPerIdentity of [1, 3]) {
        const name = `tides ${maxKeysPerIdentity}`;
        const ceilings = { maxKeysPerIdentity };
        maxima.set(
          (await context.latchkey.createApi({ name, ceilings })).apiId,
          maxKeysPerIdentity,
        );
      }
      const apiIds = [...maxima.keys()];
      let made = 0;
      for (let step = 0; step < 20; step += 1) {
        const before = await keysByPlace(context.latchkey, apiIds);
        const atOnce = chance.pick([1, 1, 2, 3]);
        const steps = Array.from({ length: atOnce }, () => {
          made += 4;
          return drawStep(chance, before, apiIds, made);
        });
        const outcomes = await Promise.allSettled(
          steps.map(({ run }, at) => run(processes[at] as Latchkey)),
        );
        const after = await keysByPlace(context.latchkey, apiIds);
        for (const [place, keyIds] of after.places)
          expect(keyIds.length, place).toBeLessThanOrEqual(
            maxima.get(place.split(" ")[0] ?? "") ?? 0,
          );
        for (const [at, outcome] of outcomes.entries()) {
          if (outcome.status === "rejected")
            expect([steps[at]?.title, outcome.reason.reason ?? outcome.reason.code]).toEqual([
              steps[at]?.title,
              // Another process may have deleted or rotated the key or the identity meanwhile.
              atOnce === 1 ? "above-ceiling" : expect.stringMatching(REFUSALS),
            ]);
          const wanted = steps[at]?.takes ?? [];
          if (atOnce === 1)
            expect([steps[at]?.title, outcome.status]).toEqual([
              steps[at]?.title,
              hasPlaces(before.places, maxima, wanted) ? "fulfilled" : "rejected",
            ]);
        }
      }
    },
  );
});
