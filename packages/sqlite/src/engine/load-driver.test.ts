import { expect, test } from "vitest";
import { type Driver, openWithDriver } from "./load-driver.js";

const OPTIONS = { timeout: 0, fileMustExist: false };

function messageOf(load: () => Driver): string {
  try {
    openWithDriver(":memory:", OPTIONS, load);
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

test("without better-sqlite3 the error says how to install it", () => {
  const missing = "Cannot find module 'better-sqlite3'\nRequire stack:\n- /app/dist/index.js";
  const message = messageOf(() => {
    throw Object.assign(new Error(missing), { code: "MODULE_NOT_FOUND" });
  });
  expect(message).toContain("`npm install better-sqlite3`");
  expect(message).not.toContain("/app");
});

test("without its binary the error says how to have it built, by npm and where pnpm blocked its script", () => {
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

test("every other error is what it was", () => {
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
