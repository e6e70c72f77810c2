import { createLatchkey } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { cliStore } from "../testing/cli-store.js";

describe("latchkey events read", () => {
  test("prints events in order, and the cursor at the end", async () => {
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

  test("ends after the requested number, and prints the cursor there", async () => {
    const { run, url } = cliStore();
    const latchkey = createLatchkey({ store: openStore(url) });
    for (let api = 0; api < 121; api += 1) await latchkey.createApi({ name: "tides" });
    await latchkey.close();
    const first = await run("events read --limit 110");
    expect(first.stdout.match(/api\.created/g)).toHaveLength(110);
    const [, cursor] = /cursor (\S+)/.exec(first.stderr) ?? [];
    const rest = await run(`events read --follow --limit 11 --after ${cursor}`);
    expect(rest.stdout.match(/api\.created/g)).toHaveLength(11);
    expect(await run("events read --limit 0")).toMatchObject({ exitCode: 2 });
  });

  test("with --follow continues with new events", async () => {
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

describe("latchkey events notice", () => {
  test("notices what is due, page by page, and prints the number", async () => {
    const { run, json } = cliStore();
    await run("apis create --name maps");
    const [api] = await json("apis list");
    for (let key = 0; key < 3; key += 1) await run(`keys create ${String(api?.id)} --expires 5d`);
    expect((await run("events notice --expires-within 4d")).stdout).toBe("noticed 0\n");
    expect((await run("events notice")).stdout).toBe("noticed 3\n");
    expect(await json("events notice")).toEqual([{ noticed: 0 }]);
    const { stdout } = await run("events read --types key.expiresSoon");
    expect(stdout.match(/key\.expiresSoon/g)).toHaveLength(3);
    expect(await run("events notice --expires-within soon")).toMatchObject({ exitCode: 2 });
  });
});
