import { expect, test } from "vitest";
import { loadPostgres } from "./load-driver.js";

const failing = (error: Error) => () => {
  throw error;
};

test("without pg the error says how to install it, and not where the files are", () => {
  const missing = Object.assign(new Error("Cannot find module 'pg'\nRequire stack:\n- /srv/app"), {
    code: "MODULE_NOT_FOUND",
  });
  expect(() => loadPostgres(failing(missing))).toThrow("pg is not installed: run `npm install pg`");
  expect(() => loadPostgres(failing(missing))).not.toThrow("/srv/app");
  const why = { code: "PRECONDITION_FAILED", reason: "driver-missing" };
  expect(() => loadPostgres(failing(missing))).toThrow(expect.objectContaining(why));
});

test("an error while pg is loaded is passed on", () => {
  const broken = new Error("broken");
  expect(() => loadPostgres(failing(broken))).toThrow(broken);
});
