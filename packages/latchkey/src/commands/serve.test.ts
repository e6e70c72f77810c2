import { describe, expect, test } from "vitest";
import { runCommand } from "../testing/run-command.js";

describe("latchkey serve", () => {
  test.each([
    [["--port", "0"], "--store is required"],
    [["--store", "memory:"], "--port is required"],
    [["--store", "memory:", "--port", "-1"], "--port must be a whole number from 0 to 65535"],
    [["--store", "memory:", "--port", "http"], "--port must be a whole number from 0 to 65535"],
    [
      ["--store", "memory:", "--port", "0", "--drain", "601"],
      "--drain must be a whole number from 0 to 600",
    ],
    [
      ["--store", "memory:", "--port", "0", "--docs-base-url", "docs"],
      "--docs-base-url must be a URL",
    ],
    [["--store", "memory:", "--port", "0", "extra"], "too many arguments: expected options only"],
  ])("%j is refused", async (args, message) => {
    await expect(runCommand(["serve", ...args])).rejects.toThrow(message);
  });
});
