/**
 * Where a file of this package is. Asked from this file alone: in `src` and in `dist` it is at the same depth, and no other is.
 *
 * @param path - From the folder of the package.
 */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}
