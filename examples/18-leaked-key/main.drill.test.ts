import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { run } from "../testing/run.js";

const README = new URL("./README.md", import.meta.url);

test("the example revokes keys that a code host found, once, and refuses a forged report", async () => {
  const { exitCode, stdout, stderr } = await run("18-leaked-key/main.mjs");
  expect(stderr).toBe("");
  expect(readFileSync(README, "utf8")).toContain(`\`\`\`\n${stdout}\`\`\``);
  expect(exitCode).toBe(0);
});
