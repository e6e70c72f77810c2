import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./sources.js";

/** The packages in the lock file, as `name@version`. */
const packages = [
  ...readFileSync(join(root, "pnpm-lock.yaml"), "utf8").matchAll(/^ {2}'?([^\s':]+)'?:$/gm),
].map(([, name = ""]) => name);

/** Packages that consist of a binary for Linux. */
const forLinux = packages.flatMap((name) => {
  const [, start, version] = /^(.+)linux-x64(?:-gnu)?@(.+)$/.exec(name) ?? [];
  return start === undefined ? [] : [{ start, version }];
});

test("a tool that is a binary can be installed on macOS and on Windows as well", () => {
  expect(forLinux.length).toBeGreaterThan(5);
  const has = (start: string, version: string | undefined) =>
    packages.some((name) => name.startsWith(start) && name.endsWith(`@${version}`));
  const missing = forLinux.flatMap(({ start, version }) =>
    ["darwin-arm64", "win32-x64"]
      .map((platform) => start + platform)
      .filter((name) => !has(name, version)),
  );
  expect(missing).toEqual([]);
});
