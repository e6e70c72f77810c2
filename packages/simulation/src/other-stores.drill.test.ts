import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as postgres from "@latchkey/postgres/testing";
import * as redis from "@latchkey/redis/testing";
import { expect, onTestFinished, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("../dist/index.js", import.meta.url));

/** CI runs few of them. `LATCHKEY_FUZZ_RUNS=10`: ten times as many. */
const FACTOR = Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1");

function expectNoViolation(url: string, few: number): void {
  const schedules = `${few * FACTOR}`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [PROGRAM, "--store", url, "--schedules", schedules],
    { encoding: "utf8" },
  );
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`${schedules} schedules from seed 1, 0 violations`);
}

test("no schedule breaks a law on SQLite", () => {
  expectNoViolation("sqlite:", 20);
});

redis.describeWithServers("on a server that the schedules empty", () => {
  test("no schedule breaks a law on Redis", async () => {
    const server = await redis.startServer();
    onTestFinished(() => server.remove());
    expectNoViolation(server.url, 20);
  });
});

postgres.describeWithServers("on a server that the schedules empty", () => {
  test("no schedule breaks a law on PostgreSQL", async () => {
    const server = await postgres.startServer();
    onTestFinished(() => server.remove());
    expectNoViolation(server.url, 5);
  });
});

test.each([
  [["--store", "mysql:"], "--store must be"],
  [["--store", "redis://127.0.0.1:1", "--workers", "2"], "leave out --workers"],
])("%j is refused", (args, why) => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringContaining(why)]);
});

test("a store that cannot be opened ends the program, which says why", () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [PROGRAM, "--store", "redis://127.0.0.1:1", "--schedules", "1"],
    { encoding: "utf8" },
  );
  expect(status).toBe(1);
  expect(stderr).toContain("the store cannot be opened");
});
