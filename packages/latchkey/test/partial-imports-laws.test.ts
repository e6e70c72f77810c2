import type { ImportedKeyResult, Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnMemoryOrAll } from "./every-store.js";
import { foreign } from "./imports.js";
import { type TestContext, workspacesOf } from "./test-context.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20260614);

const CEILINGS: readonly Parameters<Latchkey["createApi"]>[0]["ceilings"][] = [
  { maxKeysPerIdentity: 2 },
  { maxRemaining: 10 },
  { permissions: ["tides.*"] },
  { maxKeysPerIdentity: 1, maxRemaining: 5, permissions: ["tides.*", "boats.*"] },
];

const PERMISSIONS = ["tides.read", "gates.read", "boats.read"] as const;

/** Keys that may have the same secret or owner, be above a ceiling, or need something that does not exist. */
function randomKeys(chance: Chance, apiIds: readonly string[]) {
  const oneIn = (many: number) => chance.below(many) === 0;
  return Array.from({ length: 8 }, () => ({
    apiId: chance.pick(apiIds),
    plaintext: foreign(chance.below(10)),
    ...(oneIn(2) && { externalId: chance.pick(["pier-7", "pier-9"]) }),
    ...(!oneIn(3) && { remaining: chance.pick([3, 8, 50]) }),
    ...(oneIn(3) && { permissions: [chance.pick(PERMISSIONS)] }),
    ...(oneIn(5) && { roles: [chance.pick(["pilot", "nobody"])] }),
    ...(oneIn(12) && { tags: ["not a tag"] }),
  }));
}

const shown = ({ error }: ImportedKeyResult) =>
  error === undefined ? "written" : [error.code, error.reason, error.details];

/** What becomes of the keys of a seed. */
async function importIn(
  { latchkey }: TestContext,
  seed: number,
  way: "one by one" | "together" | "as a trial",
) {
  const chance = chanceOf(seed);
  await latchkey.ensurePermissions(["tides.read", "gates.read"]);
  await latchkey.createRole({ name: "pilot" });
  const { apiId } = await latchkey.createApi({ name: "tides", ceilings: chance.pick(CEILINGS) });
  const { apiId: free } = await latchkey.createApi({ name: "gates" });
  const keys = randomKeys(chance, [apiId, apiId, free, "api_none"]);
  const partial = true;
  if (way !== "one by one") {
    const dryRun = way === "as a trial";
    return (await latchkey.createKeys(keys, { partial, dryRun })).results.map(shown);
  }
  const results: unknown[] = [];
  for (const key of keys)
    results.push(...(await latchkey.createKeys([key], { partial })).results.map(shown));
  return results;
}

describeOnMemoryOrAll("createKeys with partial", (open, runs) => {
  test("treats each key as if the keys were imported one by one, and so does its dry run", async () => {
    const nextWorkspace = workspacesOf(open());
    const last = SEED + runs(100);
    for (let seed = SEED; seed < last; seed += 1) {
      const expected = await importIn(nextWorkspace(), seed, "one by one");
      for (const way of ["together", "as a trial"] as const)
        expect(await importIn(nextWorkspace(), seed, way), `seed ${seed}, ${way}`).toEqual(
          expected,
        );
    }
  });
});
