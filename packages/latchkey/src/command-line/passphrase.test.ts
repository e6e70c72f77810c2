import { expect, test } from "vitest";
import { testHost } from "../testing/test-host.js";
import { readNewPassphrase, readPassphrase } from "./passphrase.js";

/** A host whose user or pipe enters these lines, one after the other. */
function giving(asks: boolean, ...lines: readonly string[]) {
  const prompts: string[] = [];
  const readInput = async (prompt: string) => {
    prompts.push(prompt);
    return lines[prompts.length - 1] ?? "";
  };
  return { prompts, host: testHost({ asks, readInput }) };
}

test("a new passphrase is asked for twice on a terminal", async () => {
  const { host, prompts } = giving(true, "twelve chars", "twelve chars");
  expect(await readNewPassphrase(host)).toBe("twelve chars");
  expect(prompts).toEqual(["Passphrase (it is not shown): ", "Repeat the passphrase: "]);
});

test.each(["\n", "\r\n", ""])(
  "a new passphrase is read once from a pipe, without its end of line %j",
  async (end) => {
    const { host, prompts } = giving(false, `twelve chars${end}`);
    expect(await readNewPassphrase(host)).toBe("twelve chars");
    expect(prompts).toHaveLength(1);
  },
);

test("the passphrase of an existing backup is asked for once, however short", async () => {
  for (const asks of [true, false]) {
    const { host, prompts } = giving(asks, "short\n");
    expect(await readPassphrase(host)).toBe("short");
    expect(prompts).toHaveLength(1);
  }
  await expect(readPassphrase(giving(true, "").host)).rejects.toThrow(
    "--passphrase needs a passphrase",
  );
});

test("characters of a passphrase are counted as people count them", async () => {
  await expect(readNewPassphrase(giving(false, "😀".repeat(11)).host)).rejects.toThrow(
    "12 characters",
  );
  expect(await readNewPassphrase(giving(false, "😀".repeat(12)).host)).toBe("😀".repeat(12));
});
