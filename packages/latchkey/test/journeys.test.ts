import type { LatchkeyOptions } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { LIST_NAMES } from "../src/testing/list-names.js";
import { WITH_VAULT } from "./change-cases/fixture.js";
import { describeOnEveryStore } from "./every-store.js";
import { noting } from "./journeys/coverage.js";
import { JOURNEYS } from "./journeys/index.js";
import { describeOnMemory } from "./test-context.js";

/** Members of a latchkey that are no operations. */
const NO_OPERATIONS = [
  "workspaceId",
  "now",
  "verifier",
  "workspace",
  "actingAs",
  "endLeases",
  "close",
  ...LIST_NAMES,
];

/** Operations without an input that could be refused. */
const NEVER_REFUSING = ["listPermissions", "listRoles", "getWorkspace", "isWorkspaceEnabled"];

describeOnEveryStore("a journey", (open, runs) => {
  describe.each(JOURNEYS)("$resource", ({ title, run }) => {
    test(title, () => run(open(WITH_VAULT), runs));
  });
});

describeOnMemory("the journeys", (open) => {
  test("call every operation, once with success and once with a refusal", async () => {
    const coverage = { done: new Set<string>(), refused: new Set<string>() };
    for (const { run } of JOURNEYS) {
      const context = open(WITH_VAULT);
      const noted = {
        ...context,
        latchkey: noting(context.latchkey, coverage),
        another: (options?: Partial<LatchkeyOptions>) => noting(context.another(options), coverage),
      };
      await run(noted, () => 1);
    }
    const operations = Object.keys(open().latchkey).filter((name) => !NO_OPERATIONS.includes(name));
    expect(operations.filter((name) => !coverage.done.has(name))).toEqual([]);
    expect(operations.filter((name) => !coverage.refused.has(name)).sort()).toEqual(
      NEVER_REFUSING.sort(),
    );
  });
});
