import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { runInProcess } from "../testing/run-in-process.js";

/** The completions that bash offers for the last of these words, with the printed script. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await runInProcess(["completion", "bash"]);
  const typed = ["latchkey", ...words].map((word) => `'${word}'`).join(" ");
  const ask = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _latchkey; echo "\${COMPREPLY[@]}"`;
  const {
    status,
    stdout: answer,
    stderr,
  } = spawnSync("bash", ["-c", `${stdout}\n${ask}`], {
    encoding: "utf8",
    // Bash warns about a locale that is not installed.
    env: { ...process.env, LC_ALL: "C" },
  });
  expect([status, stderr]).toEqual([0, ""]);
  return answer.trim().split(" ").filter(Boolean);
}

describe("latchkey completion", () => {
  test.each(["bash", "zsh", "fish"])("for %s knows every command and option", async (shell) => {
    const { exitCode, stdout } = await runInProcess(["completion", shell]);
    for (const word of ["serve", "keys", "rotate", "scanner-rules", "byte-length", "follow"])
      expect(stdout).toContain(word);
    expect(exitCode).toBe(0);
  });

  test("offers commands, options, and after an option its values", async () => {
    expect(await offered("key")).toEqual(["keys"]);
    expect(await offered("keys", "cre")).toEqual(["create"]);
    expect(await offered("keys", "create", "api_1", "--rem")).toEqual(["--remaining"]);
    expect(await offered("usage", "key_1", "--granularity", "")).toEqual(["hour", "day", "month"]);
    expect(await offered("usage", "--granularity", "m")).toEqual(["month"]);
    expect(await offered("apis", "update", "a", "--delete-protection", "")).toEqual(["on", "off"]);
    expect(await offered("import", "a.csv", "--from", "")).toEqual([
      "better-auth",
      "unkey",
      "csv",
      "jsonl",
    ]);
    expect(await offered("serve", "--log", "")).toEqual(["json", "pretty", "none"]);
    expect(await offered("completion", "")).toEqual(["--help"]);
  });

  test("offers no options where a value is needed, but the shell's files", async () => {
    expect(await offered("backup", "--out", "")).toEqual([]);
    expect(await offered("keys", "list", "--external-id", "--")).toEqual([]);
    expect(await offered("keys", "list", "--json", "--ext")).toEqual(["--external-id"]);
    expect((await runInProcess(["completion", "bash"])).stdout).toMatch(/complete -o default /);
  });

  test("for fish offers values, and files for an option that takes any text", async () => {
    const { stdout } = await runInProcess(["completion", "fish"]);
    expect(stdout).toMatch(/^complete -c latchkey -x -a 'hour day month' .* -l granularity /m);
    expect(stdout).toMatch(/^complete -c latchkey -r .* -l out /m);
    expect(stdout).toMatch(/^complete -c latchkey -f .* -l json /m);
  });

  test("for another shell is refused", async () => {
    const { exitCode, stderr } = await runInProcess(["completion", "tcsh"]);
    expect(stderr).toBe("latchkey: <shell> must be bash or zsh or fish (see --help)\n");
    expect(exitCode).toBe(2);
  });
});
