import { expect, test } from "vitest";
import { isTestFile, readPackages } from "./sources.js";

/** What applications bundle, as Next.js does by itself with all that a route imports. `import` is for the command line. */
const files = readPackages()
  .filter(({ directory, manifest }) => manifest.private !== true && directory !== "import")
  .flatMap(({ directory, files }) =>
    files
      .filter(({ path }) => !isTestFile(path) && !path.startsWith("src/ui/"))
      .map(({ path, code }) => ({ path: `${directory}/${path}`, code })),
  );

const withCode = (pattern: RegExp) =>
  files.filter(({ code }) => pattern.test(code)).map(({ path }) => path);

test("no bundler is told to copy a folder, which it would refuse", () => {
  expect(files.length).toBeGreaterThan(300);
  // It follows a fixed path only, also one in a variable.
  expect(withCode(/new URL\(\s*["'][^"']*\/["'],\s*import\.meta\.url/)).toEqual([]);
});

test("no bundler sees the name of a driver, which may not be installed", () => {
  expect(withCode(/createRequire\(/)).toEqual(["core/src/adapters/require-from.ts"]);
  expect(withCode(/\brequireFrom\(import\.meta\.url/)).toHaveLength(3);
  expect(withCode(/\brequire\(/)).toEqual([]);
});

test("jose, which may not be installed, is imported in a try, and with a catch", () => {
  expect(withCode(/(?<!typeof )import\("jose"\)/)).toEqual(["core/src/secrets/token-signer.ts"]);
  expect(withCode(/try \{\s+return await \([^;]*import\("jose"\)\.catch\(/)).toHaveLength(1);
});

test("webpack does not see that a module loads a package: it would take out what does, and find no driver", () => {
  expect(withCode(/import \{[^}]*\bcreateRequire\b[^}]*\} from/)).toEqual([]);
});
