import { Command } from "commander";
import { expect, test } from "vitest";
import { testHost } from "../testing/test-host.js";
import { addStoreOptions, readStore } from "./store-options.js";

/** The options that a store gets if these are typed next to its URL. */
function optionsOf(...typed: string[]) {
  const command = addStoreOptions(new Command());
  command.parse(["--store", "postgres://app@localhost/app", ...typed], { from: "user" });
  return readStore(command.opts(), testHost({}), "any").options;
}

test("--schema and --no-prepared-statements are for PostgreSQL", () => {
  const { postgres } = optionsOf("--schema", "keys", "--no-prepared-statements");
  expect(postgres).toEqual({ schema: "keys", preparedStatements: false });
});

test("without them PostgreSQL is opened with its defaults", () => {
  expect(optionsOf().postgres).toEqual({ schema: undefined, preparedStatements: true });
});

test("--allow-no-persistence and --allow-eviction are for Redis", () => {
  const { redis } = optionsOf("--allow-no-persistence", "--allow-eviction");
  expect(redis).toEqual({ allowNoPersistence: true, allowEviction: true });
});
