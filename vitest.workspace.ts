import { existsSync, readdirSync } from "node:fs";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

// Vitest 4 does not look for this file by itself: every script passes `--config vitest.workspace.ts`.

// Workspace packages resolve to their TypeScript source, so that tests need no build. Setting conditions replaces
// Vite's defaults instead of adding to them, hence the rest of the list.
const conditions = ["latchkey-source", "module", "node", "development|production"];

function project(name: string, root: string, include: string[]): TestProjectInlineConfiguration {
  return { extends: true, root, test: { name, include } };
}

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
    projects: [
      ...packages.map((directory) =>
        project(directory, `./packages/${directory}`, ["src/**/*.test.ts", "test/**/*.test.ts"]),
      ),
      project("examples", "./examples", ["**/*.test.ts"]),
      project("repository", "./.ci", ["*.test.ts"]),
    ],
  },
});
