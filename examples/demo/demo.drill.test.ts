import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { run } from "../testing/run.js";

test("the demo completes with every check passing, and leaves nothing behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { exitCode, stdout, stderr } = await run("demo/demo.mjs", [], { TMPDIR: folder });
  expect(stderr).toBe("");
  expect(stdout).not.toContain("✗");
  expect(stdout).toMatch(/✓ \d+ steps, \d+ checks, all as they should be\n\n$/);
  expect(stdout).not.toContain("\x1b[");
  expect(exitCode).toBe(0);
  expect(readdirSync(folder).filter((name) => name.startsWith("latchkey-demo-"))).toEqual([]);
});
