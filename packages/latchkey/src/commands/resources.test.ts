import { describe, expect, test } from "vitest";
import { cliStore, TERMINAL } from "../testing/cli-store.js";

const line = (stdout: string) => stdout.split("\n").filter(Boolean);

describe("keys, from the cradle to the grave", () => {
  test("are made, listed, shown, changed, switched off, rotated and deleted", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    const [made] = await json(
      `keys create ${apiId} --prefix pay_live --external-id user_1 --name deploys --remaining 5 --refill monthly:5:15 --ratelimit 10/1m --ratelimits writes=2/1h:auto --meta {"plan":"pro"}`,
    );
    expect(made).toMatchObject({ key: expect.stringMatching(/^pay_live_\w{29}$/) });
    const keyId = made?.keyId;

    expect((await run(`keys list ${apiId}`)).stdout.split("\t")).toEqual([
      keyId,
      expect.stringMatching(/^pay_live_\w+$/),
      "enabled",
      "5",
      "never",
      "",
      "user_1",
      "deploys\n",
    ]);
    expect((await run(`keys get ${keyId}`)).stdout).toContain(
      '\nrefill\tmonthly:5:15\nratelimits\tdefault=10/1m,writes=2/1h\nmeta\t{"plan":"pro"}\n',
    );
    expect(await run(`keys update ${keyId} --remaining 7 --clear name,meta`)).toEqual({
      exitCode: 0,
      stdout: `key ${keyId} is changed\n`,
      stderr: "",
    });
    const [changed] = await json(`keys get ${keyId}`);
    expect(changed).toMatchObject({ remaining: 7 });
    expect(changed).not.toHaveProperty("name");
    expect(changed).not.toHaveProperty("meta");

    expect((await run(`keys disable ${keyId}`)).stdout).toBe(`key ${keyId} is disabled\n`);
    expect(await json(`keys list ${apiId} --external-id user_1`)).toMatchObject([
      { enabled: false },
    ]);
    expect(await json(`keys list ${apiId} --external-id nobody`)).toEqual([]);
    expect((await run(`keys enable ${keyId}`)).exitCode).toBe(0);
    const [next] = await json(`keys rotate ${keyId} --grace 1d`);
    expect(await json(`keys get ${keyId}`)).toMatchObject([{ rotatedTo: next?.keyId }]);
    expect((await run(`keys delete ${keyId}`)).stdout).toBe(`key ${keyId} is deleted\n`);
    expect(await run(`keys get ${keyId}`)).toMatchObject({ exitCode: 1, stdout: "" });
  });

  test("a key is deleted on a terminal only with --yes", async () => {
    const { run } = cliStore();
    expect((await run("apis delete api_1", TERMINAL)).stderr).toBe(
      "latchkey: this cannot be undone: add --yes to do it (see --help)\n",
    );
    await run("apis create --name payments");
    const { exitCode, stderr } = await run("apis delete api_1 --yes", TERMINAL);
    expect(stderr).not.toContain("--yes");
    expect(exitCode).toBe(1);
  });

  test.each([
    ["keys update key_1 --expires 2001-01-01", "--expires must be later than now"],
    ["keys update key_1 --ratelimit 10", "--ratelimit must be units/span, such as 100/1m"],
    [
      "keys update key_1 --ratelimit 10/1y",
      "--ratelimit: the span after the / must be a whole number >= 1 with ms, s, m, h or d, such as 15m",
    ],
    [
      "keys update key_1 --ratelimit x/1m",
      "--ratelimit: the units before the / must be a whole number >= 1",
    ],
    [
      "keys update key_1 --ratelimits a=1/1m,b=0/1m",
      "--ratelimits (item 2): the units before the / must be a whole number >= 1",
    ],
    ["keys create api_1 --remaining 0", "--remaining must be a whole number >= 1"],
    ["keys update key_1 --remaining 1.5", "--remaining must be a whole number >= 0"],
    ["keys create api_1 --refill daily:1", "--refill needs --remaining"],
    [
      "keys create api_1 --uses-from identity",
      '--uses-from needs --external-id where it is "identity"',
    ],
    [
      "usage key_1 --start 2031-01-01 --end 2030-01-01",
      '--end must be later than --start, and at most 366 days after it with --granularity "day"',
    ],
    [
      "keys update key_1 --ratelimits writes",
      "--ratelimits must be name=units/span, such as writes=20/1m:auto",
    ],
    [
      "keys update key_1 --refill daily",
      "--refill must be daily:amount or monthly:amount:day, such as daily:100",
    ],
    [
      "keys update key_1 --refill daily:5:3",
      "--refill must be daily:amount or monthly:amount:day, such as daily:100",
    ],
    ["keys update key_1 --refill daily:0", "--refill: the amount must be a whole number >= 1"],
    [
      "keys update key_1 --refill monthly:5:32",
      "--refill: the day must be a whole number from 1 to 31",
    ],
    ["keys update key_1 --meta {plan}", '--meta must be JSON, such as \'{"plan":"pro"}\''],
    ["keys update key_1 --meta [1]", "--meta must be a JSON object"],
    [
      "keys update key_1 --clear key-id",
      "--clear must be a list of options of this command, such as name,meta",
    ],
    [
      "keys update key_1 --clear name --name a",
      '--clear must not name "name", which is given a value',
    ],
    ["limits", "exactly one of <keyId>, --identity-id and --external-id is required"],
    [
      "limits key_1 --external-id user_1",
      "exactly one of <keyId>, --identity-id and --external-id is required",
    ],
    [
      "keys update key_1 --roles a,b!",
      "--roles (item 2) must be 1 to 512 characters of A-Z a-z 0-9 _ . : * -",
    ],
    [
      "keys rotate key_1 --grace 366d",
      '--grace must be a whole number of ms from 0 to 31536000000, or as long in seconds, minutes, hours or days, such as "30s", "1m", "1h" or "1d"',
    ],
    ["keys list api_1 --external-id", "--external-id needs a value"],
    ["identities get", "<identityId> is required where --external-id is not given"],
    ["apis create --name ab", "--name must be a string of 3 to 256 characters"],
    ["apis create --name abc --delete-protection yes", "--delete-protection must be on or off"],
  ])("%s is refused by the option and its bound", async (args, message) => {
    const { run } = cliStore();
    await run("permissions create docs.read");
    expect(await run(args)).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `latchkey: ${message} (see --help)\n`,
    });
  });
});

describe("a command", () => {
  test("that changes nothing says so, and leaves no trace in the audit log", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    const [{ keyId } = { keyId: "" }] = await json(`keys create ${apiId} --name deploys`);
    await run("permissions create docs.read");
    const [role] = await json("roles create editor --permissions docs.read");
    const entries = (await json("audit")).length;
    for (const [args, what] of [
      [`apis update ${apiId} --name payments`, `API ${apiId}`],
      [`keys update ${keyId} --name deploys --clear meta`, `key ${keyId}`],
      [`keys update ${keyId}`, `key ${keyId}`],
      [`roles update ${role?.roleId} --permissions docs.read`, `role ${role?.roleId}`],
    ])
      expect(await run(`${args}`)).toEqual({
        exitCode: 0,
        stdout: `nothing to change: ${what} is like that already\n`,
        stderr: "",
      });
    expect(await json("audit")).toHaveLength(entries);
  });

  test("that is refused says what to type", async () => {
    const { run, json } = cliStore();
    const [api] = await json("apis create --name payments --delete-protection on");
    const [key] = await json(`keys create ${api?.apiId} --remaining 1`);
    await run(`keys update ${key?.keyId} --remaining 0`);
    await run("identities create user_1");
    for (const [args, message] of [
      [
        `apis delete ${api?.apiId}`,
        "this API is protected: run apis update <apiId> --delete-protection off",
      ],
      [
        `keys create ${api?.apiId} --recoverable`,
        "no vault is configured, so no secret can be stored or read back: set LATCHKEY_VAULT_KEY",
      ],
      [
        `keys enable ${key?.keyId}`,
        "a key without uses left cannot be enabled: run keys update <keyId> --remaining <n>",
      ],
      ["identities create user_1", "an identity of this external id exists"],
    ])
      expect(await run(`${args}`)).toMatchObject({ exitCode: 1, stderr: `latchkey: ${message}\n` });
  });

  test("that shows keys says why one does not work", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    const keyIds: string[] = [];
    for (const options of ["--expires 2031-05-18", "--remaining 1", "--name off"]) {
      const [key] = await json(`keys create ${apiId} ${options}`);
      keyIds.push(`${key?.keyId}`);
    }
    await run(`keys update ${keyIds[1]} --remaining 0`);
    await run(`keys disable ${keyIds[2]}`);
    const later = { clock: () => Date.UTC(2031, 4, 18) };
    const { stdout } = await run(`keys list ${apiId}`, later);
    expect(line(stdout).map((row) => row.split("\t")[2])).toEqual([
      "disabled (expired)",
      "disabled (no uses left)",
      "disabled",
    ]);
    expect((await run(`keys get ${keyIds[0]}`, later)).stdout).toContain(
      "enabled\tfalse\nstate\tdisabled (expired)\n",
    );
  });
});

describe("tables", () => {
  test("have titles on a terminal, and tabs elsewhere", async () => {
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

describe("identities, roles and permissions", () => {
  test("are made, listed, changed and deleted", async () => {
    const { run, json } = cliStore();
    const [role] = await json("roles create editor --description writes");
    await run("permissions create docs.read");
    await run(`roles update ${role?.roleId} --permissions docs.read`);
    expect(await json("roles list")).toMatchObject([
      { name: "editor", description: "writes", permissions: ["docs.read"] },
    ]);
    expect((await run(`roles get ${role?.roleId}`)).stdout).toContain("permissions\tdocs.read\n");
    expect((await run(`roles delete ${role?.roleId}`)).exitCode).toBe(0);
    expect(await json("roles list")).toEqual([]);

    await run("identities create user_1 --ratelimits writes=2/1h --remaining 9");
    expect((await run("identities get --external-id user_1")).stdout).toMatch(
      /^id\tid_\w+\nexternalId\tuser_1\nremaining\t9\nratelimits\twrites=2\/1h\nmeta\t\{\}\n$/,
    );
    expect(await json("identities update --external-id user_1 --clear remaining")).toMatchObject([
      { externalId: "user_1" },
    ]);
    const [{ id } = { id: "" }] = await json("identities list");
    expect((await run(`identities delete ${id}`)).stdout).toBe(`identity ${id} is deleted\n`);
    expect(await json("identities list")).toEqual([]);
  });
});
