import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

// Vitest 4 does not look for this file by itself: every script passes `--config vitest.workspace.ts`.

// Workspace packages resolve to their TypeScript source, so that tests need no build. Setting conditions replaces
// Vite's defaults instead of adding to them, hence the rest of the list.
const conditions = ["latchkey-source", "module", "node", "development|production"];

const DRILLS = "**/*.drill.test.ts";

function project(name: string, root: string, include: string[]): TestProjectInlineConfiguration {
  const exclude = ["**/node_modules/**", "**/dist/**", DRILLS];
  return { extends: true, root, test: { name, include, exclude } };
}

/**
 * Tests that start programs, servers, clusters or a browser, and kill some of them. The programs are started from dist/,
 * which is brought up to date before the first of them; the tests themselves run on the sources, like all others.
 */
const drills: TestProjectInlineConfiguration = {
  extends: true,
  root: ".",
  test: {
    name: "drills",
    include: [`packages/${DRILLS}`, `examples/${DRILLS}`],
    globalSetup: ["./.ci/build.mjs"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
};

const packages = readdirSync(new URL("packages/", import.meta.url))
  .filter((directory) => existsSync(new URL(`packages/${directory}/package.json`, import.meta.url)))
  .sort();

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Far above what any test needs: a busy machine must not turn into a failure.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // The files of a project share their modules: loading these anew for each file took longer than running the tests.
    // So a test leaves nothing behind in its process.
    isolate: false,
    // By default one processor is left idle, which is half of a machine with two.
    maxWorkers: availableParallelism(),
    projects: [
      ...packages.map((directory) =>
        project(directory, `./packages/${directory}`, ["src/**/*.test.ts", "test/**/*.test.ts"]),
      ),
      project("examples", "./examples", ["**/*.test.ts"]),
      project("repository", "./.ci", ["*.test.ts"]),
      drills,
    ],
  },
});
