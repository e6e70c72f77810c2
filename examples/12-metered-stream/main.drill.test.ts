import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { run } from "../testing/run.js";

const README = new URL("./README.md", import.meta.url);

test("the example bills the words that were sent, and a killed server costs nobody anything", async () => {
  const { exitCode, stdout, stderr } = await run("12-metered-stream/main.mjs");
  expect(stderr).toBe("");
  expect(readFileSync(README, "utf8")).toContain(`\`\`\`\n${stdout}\`\`\``);
  expect(exitCode).toBe(0);
});
