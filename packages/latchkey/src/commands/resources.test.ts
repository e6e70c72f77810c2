import { EMPTY_CHANGE, type StoredRecord } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { cliStore, TERMINAL } from "../testing/cli-store.js";

const line = (stdout: string) => stdout.split("\n").filter(Boolean);

const REFILL_FORMS =
  "--refill must be hourly:amount, daily:amount, weekly:amount:day, monthly:amount:day or span:amount, such as daily:100 or 90m:100";

describe("keys, from the cradle to the grave", () => {
  test("are created, listed, shown, changed, disabled, rotated and deleted", async () => {
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

  test("roles and permissions of a key that do not exist are named, with the way to create them", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    const { keyId } = (await json(`keys create ${apiId}`))[0] ?? {};
    expect(await run(`keys create ${apiId} --permissions docs.read`)).toMatchObject({
      exitCode: 1,
      stderr:
        "latchkey: these do not exist: permissions docs.read: pass --create, or create them first\n",
    });
    expect(await run(`keys update ${keyId} --roles editor`)).toMatchObject({
      exitCode: 1,
      stderr: "latchkey: these do not exist: roles editor: create them first\n",
    });
    expect((await run(`keys create ${apiId} --permissions docs.read --create`)).exitCode).toBe(0);
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
      '--uses-from needs --external-id if it is "identity"',
    ],
    [
      "usage key_1 --start 2031-01-01 --end 2030-01-01",
      '--end must be later than --start, and at most 366 days after it with --granularity "day"',
    ],
    [
      "keys update key_1 --ratelimits writes",
      "--ratelimits must be name=units/span, such as writes=20/1m:auto",
    ],
    ["keys update key_1 --refill daily", REFILL_FORMS],
    ["keys update key_1 --refill daily:5:3", REFILL_FORMS],
    ["keys update key_1 --refill 90m", REFILL_FORMS],
    ["keys update key_1 --refill 90m:5:1", REFILL_FORMS],
    ["keys update key_1 --refill yearly:5", REFILL_FORMS],
    [
      "keys update key_1 --refill weekly:5:8",
      "--refill: the day must be a whole number from 1 to 7",
    ],
    [
      "keys update key_1 --refill 90x:5",
      "--refill: the span must be a whole number >= 1 with ms, s, m, h or d, such as 15m",
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
      '--grace must be a whole number of ms from 0 to 31536000000, or the same in seconds, minutes, hours or days, such as "30s", "1m", "1h" or "1d"',
    ],
    ["keys list api_1 --external-id", "--external-id needs a value"],
    ["identities get", "<identityId> is required if --external-id is not given"],
    ["apis create --name ab", "--name must be a string of 3 to 256 characters"],
    ["apis create --name abc --delete-protection yes", "--delete-protection must be on or off"],
  ])("%s is refused with the option and its bound", async (args, message) => {
    const { run, refuses } = cliStore();
    await run("permissions create docs.read");
    await refuses(args, message);
  });
});

describe("a command", () => {
  test("that changes nothing says so, and writes nothing to the audit log", async () => {
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
        stdout: `nothing to change: ${what} already has these values\n`,
        stderr: "",
      });
    expect(await json("audit")).toHaveLength(entries);
  });

  test("that ensures something can be run again", async () => {
    const { run, json } = cliStore();
    const first = await json("apis ensure payments");
    const role = await json("roles ensure editor --permissions docs.read,docs.write");
    expect([first, role]).toMatchObject([[{ created: true }], [{ created: true }]]);
    const entries = (await json("audit")).length;
    expect(await json("apis ensure payments")).toEqual([{ ...first[0], created: false }]);
    expect((await run("apis ensure payments")).stdout).toBe(
      `apiId\t${first[0]?.apiId}\ncreated\tfalse\n`,
    );
    expect(await json("roles ensure editor --permissions docs.read,docs.write")).toEqual([
      { ...role[0], created: false },
    ]);
    expect(await json("audit")).toHaveLength(entries);
    const grants = "--roles guest --permissions docs.read,docs.burn";
    const create = `keys create ${first[0]?.apiId} ${grants}`;
    expect((await run(create)).stderr).toContain("docs.burn");
    const [key] = await json(`${create} --create`);
    expect(await json(`keys get ${key?.keyId}`)).toMatchObject([
      { roles: ["guest"], permissions: ["docs.burn", "docs.read"] },
    ]);
  });

  test("that is refused says what to type instead", async () => {
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
      ["identities create user_1", "an identity with this external id already exists"],
    ])
      expect(await run(`${args}`)).toMatchObject({ exitCode: 1, stderr: `latchkey: ${message}\n` });
  });

  test("that shows a key says why it does not work, always in the same words", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    const keyIds: string[] = [];
    for (const options of ["--expires 2031-05-18", "--remaining 1", "--remaining 1"]) {
      const [key] = await json(`keys create ${apiId} ${options}`);
      keyIds.push(`${key?.keyId}`);
    }
    await run(`keys update ${keyIds[1]} --remaining 0`);
    await run(`keys update ${keyIds[2]} --remaining 0`);
    await run(`keys disable ${keyIds[2]}`);
    const later = { clock: () => Date.UTC(2031, 4, 18) };
    const states = ["expired", "no uses left", "disabled"];
    const { stdout } = await run(`keys list ${apiId}`, later);
    expect(line(stdout).map((row) => row.split("\t")[2])).toEqual(states);
    const listed = await json(`keys list ${apiId}`, later);
    expect(listed.map(({ state }) => state)).toEqual(states);
    expect(listed.flatMap((key) => Object.keys(key))).not.toContain("stored");
    for (const [at, keyId] of keyIds.entries()) {
      const shown = (await run(`keys get ${keyId}`, later)).stdout;
      expect(shown).toContain(`\nstate\t${states[at]}\n`);
      expect(shown).not.toContain("enabled");
      expect(await json(`keys get ${keyId}`, later)).toMatchObject([{ state: states[at] }]);
      const isOff = states[at] === "disabled";
      expect((await run(`explain ${keyId}`, later)).stdout).toContain(
        isOff ? "enabled\tREFUSES\tswitched off" : "enabled\tpasses\tswitched on",
      );
    }
  });

  test("takes spans, dates and instants for an expiry", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    const now = Date.UTC(2031, 4, 17, 12);
    for (const [expires, at] of [
      ["30d", now + 30 * 86_400_000],
      ["90m", now + 90 * 60_000],
      ["250ms", now + 250],
      ["2032-02-29", Date.UTC(2032, 1, 29)],
      ["2032-02-29T09:30:00.5+02:00", Date.UTC(2032, 1, 29, 7, 30, 0, 500)],
    ] as const) {
      const clock = () => now;
      const [key] = await json(`keys create ${apiId} --expires ${expires}`, { clock });
      expect(await json(`keys get ${key?.keyId}`, { clock })).toMatchObject([{ expires: at }]);
      const again = await run(`keys update ${key?.keyId} --expires ${expires}`, { clock });
      expect(again.stdout).toContain("nothing to change");
    }
  });

  test("that sets named limits does not change the one named default", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    const [{ keyId } = { keyId: "" }] = await json(
      `keys create ${apiId} --ratelimit 10/1m --ratelimits writes=2/1h`,
    );
    const limits = async () =>
      /\nratelimits\t(.*)\n/.exec((await run(`keys get ${keyId}`)).stdout)?.[1];
    for (const [options, expected] of [
      ["--ratelimits reads=3/1h:auto", "default=10/1m,reads=3/1h"],
      ["--clear ratelimits", "default=10/1m"],
      ["--ratelimits default=7/1m,reads=3/1h", "default=7/1m,reads=3/1h"],
      ["--ratelimits reads=4/1h --ratelimit 8/1m", "default=8/1m,reads=4/1h"],
      ["--ratelimits reads=5/1h --clear ratelimit", "reads=5/1h"],
      ["--ratelimits writes=6/1h", "writes=6/1h"],
    ] as const) {
      expect(await run(`keys update ${keyId} ${options}`)).toMatchObject({ exitCode: 0 });
      expect([options, await limits()]).toEqual([options, expected]);
    }
  });

  test("exports text that a spreadsheet would run unchanged, or escaped on request", async () => {
    const { run } = cliStore();
    await run("apis create --name payments");
    await run("keys create payments --name =1+1");
    const cells = async (more: string) =>
      (await run(`export --format csv${more}`)).stdout.split(/[\n,]/);
    expect(await cells("")).toContain("=1+1");
    const escaped = await cells(" --escape-formulas");
    expect(escaped).toContain("'=1+1");
    expect(escaped).not.toContain("=1+1");
  });

  test("takes the name of an API, a role or a permission instead of its id", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    await run("permissions create docs.read");
    await run("roles create editor");
    const [key] = await json("keys create payments --name deploys");
    expect(await json("keys list payments")).toMatchObject([{ id: key?.keyId, apiId }]);
    expect(await json("apis get payments")).toMatchObject([{ id: apiId }]);
    expect((await run(`explain ${key?.keyId} --api-id payments`)).exitCode).toBe(0);
    expect((await run("usage --api-id payments")).exitCode).toBe(0);
    expect((await run("export --format jsonl --api-id payments")).stderr).toContain("1 key");
    expect((await run("roles update editor --permissions docs.read")).exitCode).toBe(0);
    expect(await json("roles get editor")).toMatchObject([{ permissions: ["docs.read"] }]);
    expect((await run("permissions get docs.read")).exitCode).toBe(0);
    expect(await run("apis delete nothing")).toMatchObject({ exitCode: 1, stdout: "" });
    for (const gone of ["roles delete editor", "permissions delete docs.read"])
      expect((await run(gone)).exitCode).toBe(0);
    expect((await run("apis delete payments")).stdout).toBe(
      `API ${apiId} and its keys are deleted\n`,
    );
  });

  test("with a name that two APIs share lists their ids", async () => {
    const { run, json, refuses } = cliStore();
    const ids: string[] = [];
    for (const _ of [1, 2]) ids.push(`${(await json("apis create --name payments"))[0]?.apiId}`);
    const choice = `<apiId> is the name of 2: give one of the ids ${ids.join(", ")}`;
    await refuses("keys list payments", choice);
    expect((await run(`keys list ${ids[0]}`)).exitCode).toBe(0);
  });

  test("shows an instant that is too late for a date as a number", async () => {
    const { run, json, url } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    const [{ keyId } = { keyId: "" }] = await json(`keys create ${apiId} --expires 30d`);
    const store = openStore(url);
    const { found } = await store.read("ws_default", [{ kind: "key", id: keyId }]);
    const record = found[0]?.record as StoredRecord;
    const body = { ...(record.body as object), expires: 9e15 };
    await store.commit("ws_default", { ...EMPTY_CHANGE, puts: [{ record: { ...record, body } }] });
    await store.close();
    for (const args of [`keys list ${apiId}`, `keys get ${keyId}`, `explain ${keyId}`, "doctor"])
      for (const parts of [{}, TERMINAL]) {
        const { exitCode, stdout, stderr } = await run(args, parts);
        expect([args, exitCode, stderr]).toEqual([args, 0, ""]);
        if (args !== "doctor")
          expect(stdout.replaceAll(/\s+/g, "")).toContain("9000000000000000ms");
      }
    expect(await json(`keys list ${apiId}`)).toMatchObject([{ expires: 9e15 }]);
  });
});

describe("identities, roles and permissions", () => {
  test("are created, listed, changed and deleted", async () => {
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
