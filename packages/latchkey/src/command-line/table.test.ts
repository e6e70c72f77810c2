import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cliStore, TERMINAL } from "../testing/cli-store.js";
import { REPOSITORY } from "../testing/pages.js";

const line = (stdout: string) => stdout.split("\n").filter(Boolean);

describe("tables", () => {
  test("have titles on a terminal, and tabs otherwise", async () => {
    const { run } = cliStore();
    await run("permissions create docs.read --description \u001b[2J");
    const [titles, row] = line((await run("permissions list", TERMINAL)).stdout);
    expect(titles).toMatch(/^ID +NAME +DESCRIPTION$/);
    expect(row).toMatch(/^perm_\w+ {2}docs\.read {2}\\u001b\[2J$/);
    expect(line((await run("permissions list")).stdout)).toEqual([
      expect.stringMatching(/^perm_\w+\tdocs\.read\t\\u001b\[2J$/),
    ]);
  });

  test("have dim titles only where there are colours", async () => {
    const { run } = cliStore();
    await run("permissions create docs.read");
    const terminal = { columns: 80, hasColors: true };
    expect((await run("permissions list", { terminal })).stdout).toContain("\u001b[2mID");
  });
});

describe("tables of a terminal", () => {
  const at = (columns: number) => ({ terminal: { columns, hasColors: false } });

  async function filledStore() {
    const store = cliStore();
    const long =
      "a-name-that-somebody-made-up,who-never-had-to-read-it-in-a-table-of-a-hundred-columns";
    await store.run(`permissions create docs.read --description ${long}`);
    await store.run(`roles create editor --permissions docs.read --description ${long}`);
    await store.run(`identities create ${long} --ratelimits writes=5/1h:auto,reads=100/1h:auto`);
    const [{ apiId } = { apiId: "" }] = await store.json("apis create --name payments");
    const [key = { keyId: "", key: "" }] = await store.json(
      `keys create ${apiId} --prefix pay_live --name ${long} --external-id ${long} --expires 30d --remaining 100000 --refill daily:1 --ratelimit 1000/1h --permissions docs.read`,
    );
    await store.run("verify - --permissions docs.write", { readInput: async () => key.key });
    await store.run(
      `root-key create --permissions api.*.create_key,api.*.read_key,api.*.update_key --name ${long}`,
    );
    return { ...store, apiId: `${apiId}`, keyId: `${key.keyId}` };
  }

  test("fit into 100 columns, and show everything", async () => {
    const { run, apiId, keyId } = await filledStore();
    const lists = [
      "apis list",
      `keys list ${apiId}`,
      "keys find",
      "identities list",
      "roles list",
      "root-key list",
    ];
    const others = [
      `explain ${keyId} --permissions docs.write`,
      `limits ${keyId}`,
      `usage ${keyId} --granularity hour`,
      "audit",
      "events read",
      "doctor",
    ];
    for (const args of [...lists, "permissions list", "workspace list", ...others]) {
      const { stdout } = await run(args, at(100));
      const rows = line(stdout);
      const widest = Math.max(...rows.map((row) => row.length));
      expect([args, rows.length > 1, widest <= 100]).toEqual([args, true, true]);
    }
    const joined = (await run("permissions list", at(100))).stdout;
    expect(joined.replaceAll(/\s/g, "")).toContain("in-a-table-of-a-hundred-columns");
    expect((await run(`keys list ${apiId}`, at(100))).stdout).toMatch(
      new RegExp(`^ID +START +STATE +LEFT .*\\n(?: .*\\n)?${keyId}  pay_live_\\w+  enabled `),
    );
  });

  test("are those in the documentation of the command line", async () => {
    const page = readFileSync(join(REPOSITORY, "docs", "command-line.md"), "utf8");
    const [, documented = ""] = /^(CHECK +RESULT.*?)^```/ms.exec(page) ?? [];
    const [apiId = ""] = /api_\w+/.exec(documented) ?? [];
    const clock = () => Date.UTC(2026, 10, 22, 5, 43, 30);
    const { run, json } = cliStore();
    const [api] = await json("apis create --name payments", { clock });
    const settings = "--prefix pay_live --remaining 2 --refill daily:2 --ratelimit 100/1m";
    const [key] = await json(`keys create payments ${settings}`, { clock });
    for (const _ of [1, 2]) await run("verify -", { clock, readInput: async () => `${key?.key}` });
    const { stdout } = await run(`explain ${key?.keyId}`, { clock, ...at(100) });
    expect(stdout.replaceAll(`${api?.apiId}`, apiId)).toBe(documented);
  });

  test.each(["", "x"])("break no character in two, after %j", async (before) => {
    const { run } = cliStore();
    const text = `${before}${"🔑".repeat(120)}`;
    await run(`permissions create docs.read --description ${text}`);
    const { stdout } = await run("permissions list", at(80));
    expect(line(stdout).length).toBeGreaterThan(2);
    expect(stdout.isWellFormed()).toBe(true);
    expect(stdout.match(/🔑/gu)).toHaveLength(120);
  });

  test("are as wide with characters that take two columns", async () => {
    const { run } = cliStore();
    const text = "潮汐".repeat(60);
    await run(`permissions create docs.read --description ${text}`);
    const [titles = "", ...rows] = line((await run("permissions list", at(80))).stdout);
    const place = titles.indexOf("DESCRIPTION");
    expect(rows.length).toBeGreaterThan(2);
    for (const row of rows) {
      expect(row.slice(place)).toMatch(/^[潮汐]+$/);
      expect(place + 2 * (row.length - place)).toBeLessThanOrEqual(80);
    }
  });

  test("keep ids in one piece on any terminal, and lines on a wide one", async () => {
    const { run, apiId, keyId } = await filledStore();
    expect((await run(`keys list ${apiId}`, at(20))).stdout).toContain(keyId);
    expect(line((await run(`keys list ${apiId}`, at(400))).stdout)).toHaveLength(2);
  });
});
