// Not `{ createRequire }`: webpack replaces every use of that name, and its replacement finds nothing.
import nodeModule from "node:module";
import { isAbsolute } from "node:path";

/**
 * Loads a package by a name that bundlers cannot see: otherwise they would refuse to build a program where the package is not installed.
 *
 * @param moduleUrl - `import.meta.url` of the file that needs it. In a bundle, it may be missing (esbuild, CommonJS), or say where the file
 * was when the bundle was made (webpack): the package is then looked for from the bundle.
 * @throws The error of Node.js for a package that is not installed, or that cannot be loaded.
 */
export function requireFrom(moduleUrl: string | undefined, name: string): unknown {
  const bundle = commonJsFile();
  if (moduleUrl === undefined)
    return nodeModule.createRequire(bundle ?? process.argv[1] ?? "/")(name);
  try {
    return nodeModule.createRequire(moduleUrl)(name);
  } catch (error) {
    if (bundle === null || (error as { code?: unknown }).code !== "MODULE_NOT_FOUND") throw error;
    return nodeModule.createRequire(bundle)(name);
  }
}

/**
 * This file, or the bundle that contains it, if that is CommonJS; otherwise null. `node -e` sets the name too, to a text that is no path.
 */
function commonJsFile(): string | null {
  try {
    return isAbsolute(__filename) ? __filename : null;
  } catch {
    // Not `typeof`: webpack replaces it with "string", and omits the name in ES modules.
    return null;
  }
}
