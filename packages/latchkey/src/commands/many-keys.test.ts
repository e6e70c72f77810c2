import { describe, expect, test } from "vitest";
import { type CliStore, cliStore, TERMINAL } from "../testing/cli-store.js";

const OWNER = "user_1";

/** Creates two APIs, each with one key of each of two users. */
async function withKeys({ json }: CliStore) {
  const keyIds: string[] = [];
  for (const name of ["payments", "maps"]) {
    await json(`apis create --name ${name}`);
    for (const owner of [OWNER, "user_2"]) {
      const [made] = await json(`keys create ${name} --external-id ${owner}`);
      keyIds.push(made?.keyId ?? "");
    }
  }
  return keyIds;
}

const asking = (answer: string) => ({
  ...TERMINAL,
  asks: true,
  readInput: async (prompt: string) => {
    expect(prompt).toBe("Type yes to do it: ");
    return answer;
  },
});

describe("many keys at once", () => {
  test("are disabled, enabled and deleted only after they were named, and on a terminal confirmed", async () => {
    const store = cliStore();
    const { run, json } = store;
    const [first, , third] = await withKeys(store);
    const says = `latchkey: this switches off all 2 keys of ${OWNER} in all APIs\n`;
    expect(await run(`keys disable --external-id ${OWNER}`, asking("no"))).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `${says}latchkey: nothing was done: the answer was not yes (see --help)\n`,
    });
    expect(await json(`keys list payments --external-id ${OWNER}`)).toMatchObject([
      { enabled: true },
    ]);
    expect(await run(`keys disable --external-id ${OWNER}`, asking("yes\n"))).toEqual({
      exitCode: 0,
      stdout: "2 keys are disabled\n",
      stderr: says,
    });
    expect(
      await run(`keys enable --external-id ${OWNER} --api-id maps --yes`, TERMINAL),
    ).toMatchObject({
      stdout: "1 key is enabled\n",
      stderr: expect.stringMatching(
        /^latchkey: this switches on all 1 key of user_1 in API api_\w+\n$/,
      ),
    });
    expect(await json(`keys get ${first}`)).toMatchObject([{ enabled: false }]);
    expect(await json(`keys get ${third}`)).toMatchObject([{ enabled: true }]);
    const ended = await run(`keys delete --keys ${first},key_unknown --json`);
    expect(JSON.parse(ended.stdout)).toEqual({ keyIds: [first, "key_unknown"], deletedKeys: 1 });
    expect(ended.stderr).toBe("latchkey: this deletes 2 keys, as far as they exist\n");
    expect(await run("keys delete --api-id payments")).toMatchObject({
      stdout: "1 key is deleted\n",
      stderr: expect.stringMatching(/^latchkey: this deletes all 1 key of API api_\w+\n$/),
    });
    expect(await run("keys delete --external-id nobody")).toMatchObject({
      stdout: "0 keys are deleted\n",
    });
  });

  test("are not changed if nobody can confirm, or no keys are named", async () => {
    const { run } = cliStore();
    await run("apis create --name payments");
    expect(await run("keys delete --external-id user_1", TERMINAL)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("add --yes to do it"),
    });
    for (const args of ["", " key_1 --external-id user_1"])
      expect(await run(`keys disable${args}`)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(
          "either <keyId> or --external-id, --api-id or --keys is required",
        ),
      });
  });

  test("are all changed in the same way or not at all, and no limit is lost silently", async () => {
    const store = cliStore();
    const { run, json } = store;
    const [first, second] = await withKeys(store);
    const command = `keys update-many --keys ${first},${second}`;
    expect(await run(`${command} --name old --ratelimit 5/1m`)).toMatchObject({
      exitCode: 0,
      stdout: "each of 2 keys is changed\n",
    });
    expect((await run(`${command} --name old`)).stdout).toBe(
      "nothing to change: each of 2 keys already has these values\n",
    );
    expect(await run(`keys update-many --keys ${first},key_unknown --name new`)).toMatchObject({
      exitCode: 1,
    });
    const lost = await run(`${command} --ratelimits writes=3/1h:auto`);
    expect(lost).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`${first} has the limit default: also give --ratelimit`),
    });
    for (const keyId of [first, second])
      expect(await json(`keys get ${keyId}`)).toMatchObject([
        { name: "old", ratelimit: { limit: 5 } },
      ]);
    expect(
      await run(`${command} --ratelimits writes=3/1h:auto --clear ratelimit,name --json`),
    ).toMatchObject({ exitCode: 0 });
    const [changed] = await json(`keys get ${second}`);
    expect(changed).toMatchObject({ ratelimits: [{ name: "writes", limit: 3 }] });
    expect(changed).not.toHaveProperty("name");
    expect(await run("keys update-many --name new")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--keys"),
    });
  });

  test("can be named by the old options, too, but not by both", async () => {
    const store = cliStore();
    const { run } = store;
    await withKeys(store);
    expect((await run(`keys disable --owner ${OWNER} --api maps`)).stdout).toBe(
      "1 key is disabled\n",
    );
    expect(await run(`keys disable --owner ${OWNER} --external-id ${OWNER}`)).toMatchObject({
      exitCode: 2,
      stderr: "latchkey: --external-id and --owner are the same: give one (see --help)\n",
    });
    expect((await run("keys disable --help")).stdout).not.toContain("--owner");
  });

  test("are disabled or deleted with their identity if --keys says so", async () => {
    const store = cliStore();
    const { run, json } = store;
    const [first, , third] = await withKeys(store);
    const [identity] = await json("identities list");
    const command = `identities delete ${identity?.id} --keys disable`;
    expect((await run(command, TERMINAL)).exitCode).toBe(2);
    expect(await run(command)).toEqual({
      exitCode: 0,
      stdout: `identity ${identity?.id} is deleted, 2 of its keys are disabled\n`,
      stderr: `latchkey: this deletes identity ${identity?.id}, and disables all of its keys\n`,
    });
    for (const keyId of [first, third])
      expect(await json(`keys get ${keyId}`)).toMatchObject([{ enabled: false }]);
    const [other] = await json("identities list");
    expect((await run(`identities delete ${other?.id}`, TERMINAL)).stderr).toContain("add --yes");
    expect((await run(`identities delete ${other?.id} --keys delete`)).stdout).toContain(
      "2 of its keys are deleted",
    );
  });

  test("are deleted when their owner is erased, after a confirmation on a terminal", async () => {
    const store = cliStore();
    const { run, json } = store;
    await withKeys(store);
    const says = `latchkey: this erases ${OWNER}: the identity, all of its keys, and its names and metadata in the audit log\n`;
    const command = `identities erase --external-id ${OWNER}`;
    expect(await run(command, asking("no"))).toMatchObject({ exitCode: 2 });
    expect((await json("identities list")).length).toBe(2);
    expect(await run(`${command} --yes`, TERMINAL)).toMatchObject({ exitCode: 0, stderr: says });
    expect(await json("identities list")).toMatchObject([{ externalId: "user_2" }]);
    const events = await json("audit");
    expect(JSON.stringify(events)).not.toContain(OWNER);
    expect(events.map(({ type }) => type)).toContain("identity.erased");
  });
});
