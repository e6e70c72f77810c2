import { expect, test } from "vitest";
import { postgresStore } from "../index.js";
import { errorOf } from "../testing/errors.js";

/** A pool of a server that calls itself by this name, and is PostgreSQL in everything else. */
function aPoolOf(name: string) {
  const rows = [[name, "150002", "UTF8", "false"]];
  const client = {
    query: async () => ({ rows }),
    release: () => undefined,
    on: () => undefined,
    removeListener: () => undefined,
  };
  return {
    totalCount: 0,
    connect: async () => client,
    end: async () => undefined,
    on: () => undefined,
  };
}

test.each([
  ["PostgreSQL 15.12-YB-2025.2.1.0-b0 on x86_64-pc-linux-gnu", "YugabyteDB"],
  ["CockroachDB CCL v24.1.2 (x86_64-pc-linux-gnu, built 2024/07/15)", "CockroachDB"],
  ["PostgreSQL 16 (Aurora DSQL)", "Aurora DSQL"],
  ["PostgreSQL 14.1 (Spanner)", "Spanner"],
  ["PostgreSQL 16.3 (YDB stable-24-3)", "YDB"],
])("%s is refused by name, since its READ COMMITTED differs", async (version, name) => {
  const error = await errorOf(postgresStore(aPoolOf(version)).read("ws_default", []));
  expect(error.code).toBe("PRECONDITION_FAILED");
  expect(error.message).toContain(`the server is ${name}`);
});

test("PostgreSQL of that version and name is not refused", async () => {
  const version = "PostgreSQL 15.2 (Debian 15.2-1.pgdg120+1) on x86_64-pc-linux-gnu";
  const store = postgresStore(aPoolOf(version), { migrate: false });
  expect((await errorOf(store.read("ws_default", []))).message).toContain("has schema 0");
});
