import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { run } from "../testing/run.js";

const README = new URL("./README.md", import.meta.url);

test("the example loses nothing when the sending process is killed", async () => {
  const { exitCode, stdout, stderr } = await run("19-webhooks/main.mjs");
  expect(stderr).toBe("");
  expect(readFileSync(README, "utf8")).toContain(`\`\`\`\n${stdout}\`\`\``);
  expect(exitCode).toBe(0);
});
