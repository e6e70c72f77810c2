import { describe, expect, test } from "vitest";
import { runInProcess } from "../testing/run-in-process.js";

describe("latchkey completion", () => {
  test.each(["bash", "zsh", "fish"])("of %s knows every command and option", async (shell) => {
    const { exitCode, stdout } = await runInProcess(["completion", shell]);
    for (const word of ["serve", "keys", "rotate", "scanner-rules", "byte-length", "follow"])
      expect(stdout).toContain(word);
    expect(exitCode).toBe(0);
  });

  test("of another shell is refused", async () => {
    const { exitCode, stderr } = await runInProcess(["completion", "tcsh"]);
    expect(stderr).toBe("latchkey: <shell> must be bash or zsh or fish (see --help)\n");
    expect(exitCode).toBe(2);
  });
});
