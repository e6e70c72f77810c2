import { Cluster, Redis } from "ioredis";
import { expect, test } from "vitest";
import { loadIoredis } from "./load-driver.js";

test("the driver is the same module that a caller's own client comes from", () => {
  const driver = loadIoredis();
  expect(driver.Redis).toBe(Redis);
  expect(driver.Cluster).toBe(Cluster);
});

test("without ioredis the error says how to install it, and not where the files are", () => {
  const missing = Object.assign(
    new Error("Cannot find module 'ioredis'\nRequire stack:\n- /app/dist/index.js"),
    { code: "MODULE_NOT_FOUND" },
  );
  const load = () =>
    loadIoredis(() => {
      throw missing;
    });
  expect(load).toThrow("ioredis is not installed: run `npm install ioredis`");
  const why = { code: "PRECONDITION_FAILED", reason: "driver-missing" };
  expect(load).toThrow(expect.objectContaining(why));
  expect(load).not.toThrow("/app");
  expect(load).not.toThrow(expect.objectContaining({ cause: missing }));
});

test("every other error is passed on unchanged", () => {
  for (const error of [
    new TypeError("a mistake in the driver"),
    Object.assign(new Error("Cannot find module 'redis-parser'"), { code: "MODULE_NOT_FOUND" }),
  ]) {
    const load = () => {
      throw error;
    };
    expect(() => loadIoredis(load)).toThrow(error);
  }
});
