import type { DriverManifest } from "@latchkey/core";
import { expect, test, vi } from "vitest";
import { type Driver, openWithDriver } from "./load-driver.js";

const OPTIONS = { timeout: 0, fileMustExist: false };

function messageOf(load: () => Driver, describe?: () => DriverManifest): string {
  try {
    openWithDriver(":memory:", OPTIONS, load, describe);
  } catch (error) {
    expect(error).toMatchObject({
      name: "LatchkeyError",
      code: "PRECONDITION_FAILED",
      reason: "driver-missing",
    });
    expect(error).not.toHaveProperty("cause");
    return (error as Error).message;
  }
  throw new Error("it was opened");
}

const failing = (message: string, code?: string): Driver =>
  class {
    constructor() {
      throw Object.assign(new Error(message), { code });
    }
  } as unknown as Driver;

const noBindings = (folder: string) =>
  failing(`Could not locate the bindings file. Tried:\n → ${folder}/build/better_sqlite3.node`);

test.each([
  ["20.19.0", "better-sqlite3@12"],
  ["22.0.0", "better-sqlite3"],
  ["24.1.0", "better-sqlite3"],
])("without better-sqlite3 the error says what to install for Node.js %s", (version, wanted) => {
  const node = vi.spyOn(process, "versions", "get");
  node.mockReturnValue({ ...process.versions, node: version });
  const missing = "Cannot find module 'better-sqlite3'\nRequire stack:\n- /app/dist/index.js";
  const message = messageOf(() => {
    throw Object.assign(new Error(missing), { code: "MODULE_NOT_FOUND" });
  });
  node.mockRestore();
  expect(message).toContain(`\`npm install ${wanted}\``);
  expect(message).not.toContain("/app");
});

test("where Yarn resolves packages without node_modules the error says what to install too", () => {
  const text =
    "@latchkey/sqlite tried to access better-sqlite3 (a peer dependency) but it isn't provided by your application";
  const message = messageOf(() => {
    throw Object.assign(new Error(`${text}\n\nRequired by: /app/`), { code: "MODULE_NOT_FOUND" });
  });
  expect(message).toContain("`yarn add better-sqlite3");
  expect(message).not.toContain("/app");
});

test.each([
  ["Bun", "missing", "Cannot find module 'better-sqlite3'", "MODULE_NOT_FOUND"],
  ["Bun", "installed", "'better-sqlite3' is not yet supported in Bun.", "ERR_DLOPEN_FAILED"],
  ["Deno", "missing", "Cannot find module 'better-sqlite3'", "MODULE_NOT_FOUND"],
  [
    "Deno",
    "installed",
    "Cannot load native addon at …/better_sqlite3.node: it was built …",
    undefined,
  ],
])(
  "on %s, where better-sqlite3 does not run, the error names no command: %s",
  (runtime, _, text, code) => {
    const versions = vi.spyOn(process, "versions", "get");
    versions.mockReturnValue({
      ...process.versions,
      [runtime.toLowerCase()]: "1.4.5",
      node: "26.3.0",
    });
    const message = messageOf(() => failing(text, code));
    versions.mockRestore();
    expect(message).toContain(`does not run on ${runtime}`);
    expect(message).not.toContain("npm");
  },
);

test("without its binary the error says how to build it, with npm and where pnpm blocked its script", () => {
  const npm = noBindings("/app/node_modules/better-sqlite3");
  expect(messageOf(() => npm)).toContain("`npm rebuild better-sqlite3`");
  const pnpm = noBindings(
    "/app/node_modules/.pnpm/better-sqlite3@12.0.0/node_modules/better-sqlite3",
  );
  expect(messageOf(() => pnpm)).toContain("`pnpm approve-builds`");
});

test("with the binary of another Node.js the error says to rebuild it", () => {
  const other = failing("compiled against a different Node.js version", "ERR_DLOPEN_FAILED");
  expect(messageOf(() => other)).toContain("`npm rebuild better-sqlite3`");
});

test.each([
  [">=22", true],
  [">= 22.12.0", true],
  [">=20", false],
  [">=4", false],
  ["20.x || 22.x", false],
  ["22.x || 24.x", true],
  ["^22.12.0 || >=24", true],
  ["24.x || ~20.19.0", false],
  [">=22 <25", true],
  ["<25", false],
  ["22.x || *", false],
  [undefined, false],
])(
  "one for Node.js %s is refused before it is loaded, if this is an earlier one",
  (wanted, isRefused) => {
    const node = vi.spyOn(process, "versions", "get");
    node.mockReturnValue({ ...process.versions, node: "20.20.2" });
    let isLoaded = false;
    const message = messageOf(
      () => {
        isLoaded = true;
        throw Object.assign(new Error("x"), { code: "ERR_DLOPEN_FAILED" });
      },
      () => ({ version: "13.2.0", ...(wanted && { engines: { node: wanted } }) }),
    );
    node.mockRestore();
    expect(isLoaded).toBe(!isRefused);
    if (isRefused)
      expect(message).toBe(
        `better-sqlite3 13.2.0 needs Node.js ${wanted}, and this is 20.20.2: run \`npm install better-sqlite3@12\`, or use a later Node.js`,
      );
  },
);

test("where Node.js loads no native addons the error says how to allow them", () => {
  const text = "Cannot load native addon because loading addons is disabled.";
  expect(messageOf(() => failing(text, "ERR_DLOPEN_DISABLED"))).toContain("`--allow-addons`");
});

test("every other error is passed on unchanged", () => {
  for (const error of [
    new TypeError("a wrong path"),
    Object.assign(new Error("x"), { code: "MODULE_NOT_FOUND" }),
  ]) {
    const load = () => {
      throw error;
    };
    expect(() => openWithDriver(":memory:", OPTIONS, load)).toThrow(error);
  }
});
