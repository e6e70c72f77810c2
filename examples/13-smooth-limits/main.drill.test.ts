import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { run } from "../testing/run.js";

const PICTURES = fileURLToPath(new URL("../../docs/pictures", import.meta.url));
const README = new URL("./README.md", import.meta.url);

test("the example shows what each limit admitted, and draws the pictures of the documentation", async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-pictures-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { exitCode, stdout, stderr } = await run("13-smooth-limits/main.mjs", [folder]);
  expect(stderr).toBe("");
  expect(readFileSync(README, "utf8")).toContain(`\`\`\`\n${stdout}\`\`\``);
  const drawn = readdirSync(folder).sort();
  expect(drawn).toEqual([
    "limit-fixed.svg",
    "limit-sliding.svg",
    "limit-token-bucket.svg",
    "smooth-limits.svg",
  ]);
  for (const name of drawn)
    expect(readFileSync(join(folder, name), "utf8")).toBe(
      readFileSync(join(PICTURES, name), "utf8"),
    );
  expect(exitCode).toBe(0);
});
