import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { CONTRACTS } from "./contract/sections.js";
import { type OpenEmptyStore, runContract } from "./fixtures/context.js";
import { checkAgainstModel } from "./model/check.js";
import { ALGORITHM_MUTANTS } from "./testing/algorithm-mutants.js";
import { CHARGE_MUTANTS } from "./testing/charge-mutants.js";
import { COMMIT_MUTANTS } from "./testing/commit-mutants.js";
import { COUNTING_MUTANTS } from "./testing/counting-mutants.js";
import { HOLD_MUTANTS } from "./testing/hold-mutants.js";
import { LOG_MUTANTS } from "./testing/log-mutants.js";
import { PAGING_MUTANTS } from "./testing/paging-mutants.js";
import { READING_MUTANTS } from "./testing/reading-mutants.js";
import { SCANNING_MUTANTS } from "./testing/scanning-mutants.js";
import { STATISTICS_MUTANTS } from "./testing/statistics-mutants.js";
import { WRITING_MUTANTS } from "./testing/writing-mutants.js";

/**
 * A fixed seed, and as many sequences as the rarest mutant needs: noticing a mutant must not depend on luck. Each run ends with the first
 * sequence that notices it.
 */
const SEED = 20_300_127;

/** The title of the first contract of a section that fails, or null. */
async function firstNoticed(section: string, open: OpenEmptyStore): Promise<string | null> {
  const found = CONTRACTS.find(({ name }) => name === section);
  if (found === undefined) throw new Error(`no section is called "${section}"`);
  for (const contract of found.contracts) {
    const isKept = await runContract(contract, open).then(
      () => true,
      () => false,
    );
    if (!isKept) return contract.title;
  }
  return null;
}

for (const { mistake, plant, noticedBy, isNoticedByModel = true, seed = SEED } of [
  ...READING_MUTANTS,
  ...LOG_MUTANTS,
  ...PAGING_MUTANTS,
  ...COMMIT_MUTANTS,
  ...WRITING_MUTANTS,
  ...CHARGE_MUTANTS,
  ...COUNTING_MUTANTS,
  ...ALGORITHM_MUTANTS,
  ...HOLD_MUTANTS,
  ...STATISTICS_MUTANTS,
  ...SCANNING_MUTANTS,
]) {
  describe(`a store that ${mistake}`, () => {
    const open = () => {
      const store = memoryStore();
      return { ...store, ...plant(store) };
    };

    test.each(noticedBy)("is noticed by the contracts of: %s", async (section) => {
      expect(await firstNoticed(section, open)).not.toBeNull();
    });

    if (!isNoticedByModel) return;
    test("is noticed by random sequences of calls", async () => {
      const check = ({ openEmpty }: Parameters<Parameters<typeof runContract>[0]["check"]>[0]) =>
        checkAgainstModel(openEmpty, {
          LATCHKEY_MODEL_SEED: `${seed}`,
          LATCHKEY_MODEL_RUNS: "100",
          LATCHKEY_MODEL_SHRINK: "no",
        });
      await expect(runContract({ check }, open)).rejects.toThrow(`seed: ${seed}`);
    });
  });
}

test("a store without mistakes passes every contract", async () => {
  const noticed = await Promise.all(CONTRACTS.map(({ name }) => firstNoticed(name, memoryStore)));
  expect(noticed.filter((title) => title !== null)).toEqual([]);
});
