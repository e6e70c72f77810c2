import { existsSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { packagesInOneFile } from "./.ci/packages-in-one-file.js";

// Vitest 4 does not look for this file by itself: every script passes `--config vitest.workspace.ts`.

// Workspace packages resolve to their TypeScript source, so that tests need no build. Setting conditions replaces
// Vite's defaults instead of adding to them, hence the rest of the list.
const conditions = ["latchkey-source", "module", "node", "development|production"];

const DRILLS = "**/*.drill.test.ts";
const exclude = ["**/node_modules/**", "**/dist/**"];

/**
 * Each in a process of its own. light-my-request changes the prototypes of Express: an Express server of the same process then never ends
 * a response. The others count all timers that are pending, and those of an earlier file, such as its connections, would be among them.
 */
const ALONE = [
  "examples/10-testing-an-app/app.test.ts",
  "packages/guard/src/deadline.test.ts",
  "packages/guard/src/open-hold.test.ts",
];

/**
 * Where the tests put their files: in memory where there is room, since thousands of their writes would wait for the disk. Drills
 * use the disk.
 */
function folderOfFiles(): { readonly TMPDIR?: string } {
  const shared = "/dev/shm";
  if (!existsSync(shared)) return {};
  const { bavail, bsize } = statfsSync(shared);
  return bavail * bsize >= 4 * 1024 ** 3 ? { TMPDIR: shared } : {};
}

/**
 * What takes longest, and is waited for alone if it begins last. Vitest goes by the latest run, of which a fresh checkout has none, and
 * else by the size of files: most of these are short.
 */
const LONGEST =
  /(postgres.src.(server|pglite)|sqlite.src.store|latchkey.test.(journeys|erasing))\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ project, moduleId }: TestSpecification) =>
      project.name === "drills" ? 0 : LONGEST.test(moduleId) ? 1 : 2;
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}

export default defineConfig({
  plugins: [packagesInOneFile()],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Far above what any test needs: a busy machine must not turn into a failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { interval: 10, timeout: 60_000 } },
    // The files of a project share their modules: loading these anew for each file took longer than running the tests.
    // So a test leaves nothing behind in its process. For the same reason the packages are one project, not one each.
    isolate: false,
    // What Node.js imports by itself is used as it is: otherwise each use of it, as of zod or a hash, goes through a proxy.
    deps: { interopDefault: false },
    setupFiles: ["packages/core/src/testing/whole-sizes.ts"],
    // One more than there are processors: many a test waits for a server or a program that it started.
    maxWorkers: 1 + availableParallelism(),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: ["{packages,examples,.ci}/**/*.test.ts"],
          exclude: [...exclude, DRILLS, ...ALONE],
          env: folderOfFiles(),
        },
      },
      { extends: true, test: { name: "alone", include: ALONE, isolate: true } },
      {
        // Tests that start programs, servers, clusters or a browser, and kill some of them. The programs are started
        // from dist/, which is brought up to date before the first of them; the tests run on the sources, like all others.
        extends: true,
        test: {
          name: "drills",
          include: [`{packages,examples,.ci}/${DRILLS}`],
          exclude,
          globalSetup: ["./.ci/build.mjs"],
        },
      },
    ],
  },
});
