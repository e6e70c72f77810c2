import { describe, expect, test } from "vitest";
import { runInProcess } from "../testing/run-in-process.js";
import { UsageError } from "./failures.js";
import { isoDate, list, oneOf, wholeNumber } from "./values.js";

const complaintAbout = async (...args: string[]) => {
  const { exitCode, stdout, stderr } = await runInProcess(args);
  expect(stdout).toBe("");
  expect(exitCode).toBe(2);
  return stderr;
};

describe("arguments", () => {
  test.each([
    [["serve", "--colour"], "unknown option --colour"],
    [["serve", "--password=hunter2"], "unknown option --password"],
    [["serve", "--stor", "hunter2"], "unknown option --stor: did you mean --store?"],
    [["serve", "-xhunter2"], "unknown option -x"],
    [["serve", "--constructor", "x"], "unknown option --constructor"],
    [["serve", "--store"], "--store needs a value"],
    [["serve", "--store="], "--store needs a value"],
    [["serve", "--store", "--port"], "--store needs a value"],
    [["serve", "--port", "1", "--port", "2"], "--port must be given once"],
    [["serve", "--port", "-1"], "--port must be a whole number from 0 to 65535"],
    [["serve", "hunter2"], "too many arguments: expected options only"],
    [
      ["doctor", "sqlite:./keys.db"],
      "too many arguments: expected options only; the URL of a store follows --store",
    ],
    [["workspace", "disable", "ws_1", "hunter2"], "too many arguments: expected <id>"],
    [["workspace", "disable"], "<id> is required"],
    [["root-key", "create"], "--permissions is required"],
    [
      ["workspace", "hunter2"],
      "workspace must be followed by one of: create, list, get, update, disable, enable, delete",
    ],
    [
      ["workspace", "--store", "memory:", "disable"],
      "options come after the command: create, list, get, update, disable, enable, delete",
    ],
  ])("%j is refused by name, without the value", async (args, message) => {
    expect(await complaintAbout(...args)).toBe(`latchkey: ${message} (see --help)\n`);
  });
});

describe("values", () => {
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
    const port = () => wholeNumber("--port", 0, 65_535)(text);
    if (isAccepted) expect(port()).toBe(Number(text));
    else expect(port).toThrow(new UsageError("--port must be a whole number from 0 to 65535"));
  });

  test("a number without an upper bound says so, and ends at the largest safe integer", () => {
    const uses = wholeNumber("--uses", 1);
    expect(uses(String(Number.MAX_SAFE_INTEGER))).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => uses("9007199254740992")).toThrow("--uses must be a whole number >= 1");
  });

  test("a list is separated by commas, and spaces around items are dropped", () => {
    expect(list("a, b ,c")).toEqual(["a", "b", "c"]);
  });

  test("a word must be one of those listed", () => {
    const level = oneOf("--level", ["normal", "full"]);
    expect(level("full")).toBe("full");
    expect(() => level("hunter2")).toThrow(new UsageError("--level must be normal or full"));
  });

  test("a date is read as the instant that it names", () => {
    expect(isoDate("--at")("2031-05-17")).toBe(Date.UTC(2031, 4, 17));
    expect(isoDate("--at")("2031-05-17T09:30:00+02:00")).toBe(Date.UTC(2031, 4, 17, 7, 30));
  });
});
