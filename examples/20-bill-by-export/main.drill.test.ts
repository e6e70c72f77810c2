import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { run } from "../testing/run.js";

const README = new URL("./README.md", import.meta.url);

test("the example bills every use once, even if its job is killed and repeated", async () => {
  const { exitCode, stdout, stderr } = await run("20-bill-by-export/main.mjs");
  expect(stderr).toBe("");
  expect(readFileSync(README, "utf8")).toContain(`\`\`\`\n${stdout}\`\`\``);
  expect(exitCode).toBe(0);
});
