import { AssertionError } from "node:assert/strict";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { checkAgainstModel } from "./model-check.js";
import { CAPABILITIES } from "./promises.js";
import { runCheck } from "./stage.js";
import { CHARGING_MUTANTS } from "./testing/charging-mutants.js";
import { LOG_MUTANTS } from "./testing/log-mutants.js";
import { RECORD_MUTANTS } from "./testing/record-mutants.js";
import { SHARING_MUTANTS } from "./testing/sharing-mutants.js";

const promises = CAPABILITIES.flatMap((capability) => capability.promises);

/** One fixed seed: whether a mutant is noticed must not depend on luck. More runs, since the rarest need them. */
const SEED = { LATCHKEY_MODEL_SEED: "20300115", LATCHKEY_MODEL_RUNS: "5" };

for (const { mistake, plant, noticedBy, isNoticedByModel } of [
  ...CHARGING_MUTANTS,
  ...RECORD_MUTANTS,
  ...SHARING_MUTANTS,
  ...LOG_MUTANTS,
]) {
  describe(`a store that ${mistake}`, () => {
    test.each(noticedBy)("is noticed by: %s", async (title) => {
      const check = promises.find((promise) => promise.title === title)?.check;
      if (check === undefined) throw new Error(`no promise is called "${title}"`);
      await expect(runCheck(check, () => plant(memoryStore()))).rejects.toBeInstanceOf(
        AssertionError,
      );
    });

    if (!isNoticedByModel) return;
    test("is noticed by random sequences of calls", async () => {
      const check = runCheck(
        ({ openEmpty }) => checkAgainstModel(openEmpty, SEED),
        () => plant(memoryStore()),
      );
      await expect(check).rejects.toThrow(/seed: 20300115/);
    });
  });
}

test("a store without mistakes is let through by every promise", async () => {
  for (const { check } of promises) await runCheck(check, memoryStore);
});
