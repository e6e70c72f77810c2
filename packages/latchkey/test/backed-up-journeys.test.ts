import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { memoryStore } from "@latchkey/memory";
import { backup, restore } from "@latchkey/transfer";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../src/testing/temp-folder.js";
import { WITH_VAULT } from "./change-cases/fixture.js";
import { JOURNEYS } from "./journeys/index.js";
import { describeOnMemory } from "./test-context.js";

/** The lines of a backup, without the first, which has its date, and the last, which has its digest. */
function linesOf(path: string): readonly string[] {
  return gunzipSync(readFileSync(path)).toString().trim().split("\n").slice(1, -1);
}

/** This journey leaves damaged records, and a store with damaged records cannot be backed up. */
const LEAVES_DAMAGE = "revocations";

describeOnMemory("whatever was done with a store, its backup", (open) => {
  describe.each(JOURNEYS)("$resource", ({ resource, title, run }) => {
    test(`is restored as it was: ${title}`, async () => {
      // Durable usage is in the store at once.
      const context = open({ ...WITH_VAULT, usage: { durable: true } });
      await run(context, () => 1);
      const [folder, restored] = [tempFolder(), memoryStore()];
      const [first, second] = [join(folder, "first.lkb"), join(folder, "second.lkb")];
      const written = backup(context.store, first);
      if (resource === LEAVES_DAMAGE) {
        await expect(written).rejects.toMatchObject({ code: "STORE_CORRUPT" });
        return;
      }
      await written;
      await restore(restored, first);
      await backup(restored, second);
      expect(linesOf(second)).toEqual(linesOf(first));
      await restored.close();
    });
  });
});
