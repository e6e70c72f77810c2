import { describe, expect, test } from "vitest";
import { type Command, readArguments, readWholeNumber, UsageError } from "./command-line.js";

const command: Pick<Command, "options" | "positionals"> = {
  options: { store: "text", port: "text", quiet: "flag" },
  positionals: ["<id>"],
};

const read = (...args: string[]) => readArguments(args, command);

describe("arguments", () => {
  test("options are read in both spellings, flags and positionals in any place", () => {
    const { texts, flags, positionals } = read(
      "--store=memory:",
      "ws_1",
      "--quiet",
      "--port",
      "80",
    );
    expect(Object.fromEntries(texts)).toEqual({ store: "memory:", port: "80" });
    expect([...flags]).toEqual(["quiet"]);
    expect(positionals).toEqual(["ws_1"]);
  });

  test.each([
    [["--colour"], "unknown option --colour"],
    [["--password=hunter2"], "unknown option --password"],
    [["-x"], "unknown option -x"],
    [["--constructor", "x"], "unknown option --constructor"],
    [["--store"], "--store needs a value"],
    [["--store="], "--store needs a value"],
    [["--store", "--quiet"], "--store needs a value"],
    [["--quiet=yes"], "--quiet takes no value"],
    [["--port", "1", "--port", "2"], "--port must be given once"],
    [["ws_1", "hunter2"], "too many arguments: expected <id>"],
  ])("%j is refused by name, without its value", (args, message) => {
    expect(() => read(...args)).toThrow(new UsageError(message));
  });

  test("--help and -h silence every complaint", () => {
    for (const help of ["--help", "-h"]) {
      expect(read("--nonsense", help, "--store").flags.has("help")).toBe(true);
    }
  });

  test("a negative number is a value, for its bound to refuse", () => {
    expect(read("--port", "-1").texts.get("port")).toBe("-1");
  });

  test.each([
    ["-1", false],
    ["0", true],
    ["1", true],
    ["65534", true],
    ["65535", true],
    ["65536", false],
    ["80.5", false],
    ["8e1", false],
    ["0x50", false],
    [" 80", false],
    ["99999999999999999999", false],
  ])("a port of %j is accepted: %s", (text, isAccepted) => {
    const port = () => readWholeNumber("--port", text, 0, 65_535);
    if (isAccepted) expect(port()).toBe(Number(text));
    else expect(port).toThrow(new UsageError("--port must be a whole number from 0 to 65535"));
  });
});
