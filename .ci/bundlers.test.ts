import { expect, test } from "vitest";
import { isTestFile, readPackages } from "./sources.js";

/** Sources that applications may bundle, as Next.js does with everything that a route imports. `import` is for the command line. */
const files = readPackages()
  .filter(({ directory, manifest }) => manifest.private !== true && directory !== "import")
  .flatMap(({ directory, files }) =>
    files
      .filter(({ path }) => !isTestFile(path) && !path.startsWith("src/ui/"))
      .map(({ path, code }) => ({ path: `${directory}/${path}`, code })),
  );

const withCode = (pattern: RegExp) =>
  files.filter(({ code }) => pattern.test(code)).map(({ path }) => path);

test("no bundler is made to copy a folder, which it would refuse", () => {
  expect(files.length).toBeGreaterThan(300);
  // A bundler follows only constant paths, also in a variable.
  expect(withCode(/new URL\(\s*["'][^"']*\/["'],\s*import\.meta\.url/)).toEqual([]);
});

test("no bundler can see the name of a driver, because the driver may not be installed", () => {
  expect(withCode(/createRequire\(/)).toEqual(["core/src/adapters/load-driver.ts"]);
  expect(withCode(/\brequireFrom\(import\.meta\.url/)).toHaveLength(3);
  expect(withCode(/\brequire\(/)).toEqual([]);
});

test("jose may not be installed, so it is imported in a try and with a catch", () => {
  expect(withCode(/(?<!typeof )import\("jose"\)/)).toEqual(["core/src/secrets/token-signer.ts"]);
  expect(withCode(/try \{\s+return await \([^;]*import\("jose"\)\.catch\(/)).toHaveLength(1);
});

test("webpack cannot see that a module loads packages: it would remove that code, and no driver would be found", () => {
  expect(withCode(/import \{[^}]*\bcreateRequire\b[^}]*\} from/)).toEqual([]);
});
