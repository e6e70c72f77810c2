import { describe, expect, test } from "vitest";
import { cliStore } from "../testing/cli-store.js";

describe("latchkey events read", () => {
  test("shows what happened in its order, and where it ended", async () => {
    const { run } = cliStore();
    await run("apis create --name maps");
    await run("apis create --name tides");
    const { exitCode, stdout, stderr } = await run("events read");
    expect([exitCode, stdout.split("\n").map((line) => line.split("\t")[1])]).toEqual([
      0,
      ["api.created", "api.created", undefined],
    ]);
    const [, cursor] = /cursor (\S+)/.exec(stderr) ?? [];
    await run("apis create --name gates");
    const { stdout: later, stderr: said } = await run(
      `events read --after ${cursor} --types api.created,key.created --json`,
    );
    expect(said).toContain("cursor ");
    expect(
      later
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { type: "api.created", actor: "cli", changes: [{ field: "name", after: "gates" }] },
    ]);
  });

  test("goes on while it is followed", async () => {
    const { run } = cliStore();
    await run("apis create --name maps");
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
      if (pauses === 1) await run("apis create --name tides");
      return pauses < 3;
    };
    const { stdout } = await run("events read --follow", { pause });
    expect(stdout.match(/api\.created/g)).toHaveLength(2);
  });
});
