import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { testGuardedRoute } from "../testing/guarded-route.js";
import { run } from "../testing/run.js";

describe("the guarded route of example 09-next", () => testGuardedRoute("09-next/main.mjs"));

test("a reloaded module keeps the latchkey, and opens its store only once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-next-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const STORE_URL = `sqlite:${join(folder, "keys.db")}`;
  const { stdout, stderr, exitCode } = await run("09-next/reload.mjs", [], { STORE_URL });
  expect([stderr, exitCode]).toEqual(["", 0]);
  expect(stdout.trim().split("\n")).toEqual([
    "the same latchkey: true",
    "200 200",
    "open once: true",
  ]);
});
