import { defineConfig } from "vitest/config";

// Only the unit tests of core, because the tests beside a rule must find its mutants.
const conditions = ["latchkey-source", "module", "node", "development|production"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/core/src/{rules,rules/keys,secrets,store,verification}/*.test.ts"],
    exclude: ["**/node_modules/**", "**/*.drill.test.ts"],
    isolate: false,
    setupFiles: ["packages/core/src/testing/whole-sizes.ts"],
    // A busy machine must not cause a failure. Stryker has its own timeout for changes that never end.
    testTimeout: 60_000,
  },
});
