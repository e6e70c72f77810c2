import { defineConfig } from "vitest/config";

// The unit tests of core alone, for a mutant is to be found beside its rule.
const conditions = ["latchkey-source", "module", "node", "development|production"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/core/src/{rules,rules/keys,secrets,store,verification}/*.test.ts"],
    exclude: ["**/node_modules/**", "**/*.drill.test.ts"],
    isolate: false,
    setupFiles: ["packages/core/src/testing/whole-sizes.ts"],
    // A busy machine must not turn into a failure: a change that never ends is what Stryker watches for.
    testTimeout: 60_000,
  },
});
