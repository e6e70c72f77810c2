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
    [["--store", "memory:", "--port", "0", "--uses-below", "5"], "need --notice"],
    ...["0", "1.5", "-1", "0.0", "many"].map((uses): [string[], string] => [
      ["--store", "memory:", "--port", "0", "--notice", "--uses-below", uses],
      "--uses-below must be a whole number >= 1, or a share between 0 and 1",
    ]),
    [
      ["--store", "memory:", "--port", "0", "--notice", "--limit-above", "1"],
      "--limit-above must be a share between 0 and 1",
    ],
    [["--store", "memory:", "--port", "0", "extra"], "too many arguments: expected options only"],
  ])("%j is refused", async (args, message) => {
    await expect(runCommand(["serve", ...args])).rejects.toThrow(message);
  });

  test.each([
    [{ PORT: "http" }, [], "PORT must be a whole number from 0 to 65535"],
    [{ LATCHKEY_LOG: "xml", PORT: "0" }, [], "LATCHKEY_LOG must be json or pretty or none"],
    [{ LATCHKEY_WORKSPACE: "a b", PORT: "0" }, [], "LATCHKEY_WORKSPACE must be 1 to 64 characters"],
    [{ PORT: "80" }, ["--log", "xml"], "--log must be json or pretty or none"],
  ])("the environment %j with %j is refused", async (env, args, message) => {
    const run = runCommand(["serve", "--store", "memory:", ...args], env);
    await expect(run).rejects.toThrow(message);
  });
});
