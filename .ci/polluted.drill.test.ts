import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("no property added to Object.prototype makes a guard or a verdict admit anyone it refused before", async () => {
  const seen = await foundBy("guard/src/testing/polluted-guards.mjs");
  expect(seen).toMatchObject({ unpolluted: [], letIn: [], exitCode: 0 });
  expect(seen.names).toBeGreaterThan(1_000);
  expect(seen.checks).toBeGreaterThan(25);
}, 600_000);

test("no property added to Object.prototype makes a handler act on a request without permission", async () => {
  const seen = await foundBy("http/src/testing/polluted-handler.mjs");
  expect(seen).toMatchObject({ unpolluted: [], letIn: [], exitCode: 0 });
  expect(seen.names).toBeGreaterThan(500);
  expect(seen.checks).toBeGreaterThan(10);
}, 600_000);

interface Found {
  readonly exitCode: number;
  readonly names: number;
  readonly checks: number;
  readonly unpolluted: readonly string[];
  readonly letIn: readonly string[];
}

/** Runs a program of checks in its own process, which an unhandled rejection ends. `program`: path below `packages`. */
async function foundBy(program: string): Promise<Found> {
  const path = fileURLToPath(new URL(`../packages/${program}`, import.meta.url));
  const child = spawn(process.execPath, ["--unhandled-rejections=strict", path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  const exitCode = await new Promise((resolve) => child.on("close", resolve));
  return { ...JSON.parse(stdout), exitCode };
}
