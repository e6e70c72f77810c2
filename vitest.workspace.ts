import { existsSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { packagesInOneFile } from "./.ci/packages-in-one-file.js";

// Vitest 4 does not find this file by itself: every script passes `--config vitest.workspace.ts`.

// Workspace packages resolve to their TypeScript source, so that tests need no build. Setting conditions replaces
// Vite's defaults instead of adding to them, hence the rest of the list.
const conditions = ["latchkey-source", "module", "node", "development|production"];

const DRILLS = "**/*.drill.test.ts";
const exclude = ["**/node_modules/**", "**/dist/**"];

/**
 * Files that run in their own process. The example's light-my-request changes the prototypes of Express: an Express server in the same
 * process then never ends a response. The others count all pending timers, which would include those of earlier files, such as their
 * connections'.
 */
const ALONE = [
  "examples/10-testing-an-app/app.test.ts",
  "packages/guard/src/deadline.test.ts",
  "packages/guard/src/open-hold.test.ts",
];

/** Where tests put their files: in memory if there is room, because thousands of writes would wait for the disk. Drills use the disk. */
function folderOfFiles(): { readonly TMPDIR?: string } {
  const shared = "/dev/shm";
  if (!existsSync(shared)) return {};
  const { bavail, bsize } = statfsSync(shared);
  return bavail * bsize >= 4 * 1024 ** 3 ? { TMPDIR: shared } : {};
}

/**
 * The slowest files. They run first; otherwise the whole run waits for one of them at the end. Vitest orders files by the durations of the
 * latest run, which a fresh checkout lacks, or else by size, and most of these files are short.
 */
const LONGEST =
  /(postgres.src.(server|pglite|deadlines)|redis.src.(standstill|deadlines)|sqlite.src.store|webhooks.src.stopping|latchkey.test.(journeys|erasing))\.test\.ts$/;

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
    // Far above what any test needs, so that a busy machine causes no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { interval: 10, timeout: 60_000 } },
    // The files of a project share their modules: loading them again for each file took longer than running the tests. So a test must leave
    // nothing behind in its process. For the same reason all packages are one project.
    isolate: false,
    // Modules that Node.js imports itself are used as they are: otherwise each use of them, such as of zod or a hash, goes through a proxy.
    deps: { interopDefault: false },
    setupFiles: ["packages/core/src/testing/whole-sizes.ts"],
    // Garbage collection took a tenth of the processor's time with the 16 MB that Node.js gives new objects.
    execArgv: ["--max-semi-space-size=64"],
    // One more than the number of processors, because many tests wait for a server or a program that they started.
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
        // Tests that start programs, servers, clusters or a browser, and kill some of them. They start programs from dist/, which is built
        // before the first of them. Their own code runs from the sources, like all other tests.
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
