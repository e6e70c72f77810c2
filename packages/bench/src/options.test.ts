import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseOptions } from "./options.js";
import { packageFile } from "./package-file.js";
import { chosenTasks } from "./tasks.js";

test("without arguments everything is measured, and nothing is written", () => {
  expect(parseOptions([])).toEqual({
    stores: [],
    tasks: [],
    isQuick: false,
    isCheck: false,
    isWrite: false,
    json: null,
  });
});

test("stores may be named several times, and only these are measured", () => {
  const { stores, tasks } = parseOptions(["--store", "memory", "--store", "http"]);
  const chosen = new Set(chosenTasks({ stores, tasks }).map(({ store }) => store));
  expect(chosen).toEqual(new Set(["memory", "http"]));
});

test("tasks are chosen by the start of their ids", () => {
  const chosen = chosenTasks({ stores: [], tasks: ["page/", "http"] }).map(({ id }) => id);
  expect(chosen).toEqual([
    "page/memory",
    "page/sqlite",
    "page/redis",
    "page/postgres",
    "http/verify",
  ]);
});

test("a store that cannot be measured is refused, and so is an unknown argument", () => {
  expect(() => parseOptions(["--store", "mysql"])).toThrow("must be one of memory, sqlite");
  expect(() => parseOptions(["--fast"])).toThrow("--fast");
});

test("a quick run, whose figures mean nothing, judges no goal and writes no README", () => {
  expect(() => parseOptions(["--quick", "--check"])).toThrow("mean nothing");
  expect(() => parseOptions(["--quick", "--write"])).toThrow("mean nothing");
});

test("a prefix that matches no task id is refused: a run of nothing would meet every goal", () => {
  expect(() => parseOptions(["--task", "verify/sqlite", "--task", "verfy/redis"])).toThrow(
    'no task begins with "verfy/redis"',
  );
  expect(() => parseOptions(["--store", "memory", "--task", "verify/redis"])).toThrow(
    'no task begins with "verify/redis"',
  );
});

test("the README names only tasks that exist", () => {
  const readme = readFileSync(packageFile("README.md"), "utf8");
  const named = [...readme.matchAll(/bench -- --task ([\w/-]+)/g)].map(([, start = ""]) => start);
  expect(named.length).toBeGreaterThan(5);
  for (const start of named) expect(parseOptions(["--task", start]).tasks).toEqual([start]);
});
