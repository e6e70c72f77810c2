import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("whatever somebody adds to Object.prototype, a handler does nothing for a request that may not", async () => {
  const program = fileURLToPath(new URL("./testing/polluted-handler.mjs", import.meta.url));
  const child = spawn(process.execPath, ["--unhandled-rejections=strict", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  const exitCode = await new Promise((resolve) => child.on("close", resolve));
  const seen = JSON.parse(stdout) as Readonly<Record<"names" | "checks", number>>;
  expect(seen).toMatchObject({ unpolluted: [], letIn: [] });
  expect(seen.names).toBeGreaterThan(500);
  expect(seen.checks).toBeGreaterThan(10);
  expect(exitCode).toBe(0);
});
