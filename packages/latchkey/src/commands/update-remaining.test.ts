import { describe, expect, test } from "vitest";
import { cliStore } from "../testing/cli-store.js";

describe("update-remaining", () => {
  test("changes the uses of a key, and the shared uses of an identity", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    const [{ keyId } = { keyId: "" }] = await json(`keys create ${apiId} --remaining 5`);
    const change = `keys update-remaining ${keyId}`;
    expect((await run(`${change} --op increment --value 500`)).stdout).toBe("remaining\t505\n");
    expect(await json(`${change} --op set --value 7`)).toEqual([{ remaining: 7 }]);
    const [{ identityId } = { identityId: "" }] = await json("identities create user_1");
    const shared = "identities update-remaining";
    expect(await json(`${shared} ${identityId} --op set --value 9`)).toEqual([{ remaining: 9 }]);
    const lower = `${shared} --external-id user_1 --op decrement --value 2`;
    expect((await run(lower)).stdout).toBe("remaining\t7\n");
    const unlimited = `${shared} ${identityId} --op set --value unlimited`;
    expect((await run(unlimited)).stdout).toBe("remaining\tunlimited\n");
    expect(await json(unlimited)).toEqual([{}]);
  });

  test.each([
    ["hourly:9", "hourly:9"],
    ["weekly:9", "weekly:9:1"],
    ["weekly:9:7", "weekly:9:7"],
    ["monthly:9:31", "monthly:9:31"],
    ["5400s:9", "90m:9"],
    ["90061ms:9", "90061ms:9"],
    ["weekly:9:7:carry=20", "weekly:9:7:carry=20"],
    ["90m:9:carry=0", "90m:9"],
  ])("keeps a refill of %s, printed as %s", async (given, shown) => {
    const { run, json } = cliStore();
    await json(`identities create user_1 --remaining 5 --refill ${given}`);
    await json("identities update-remaining --external-id user_1 --op increment --value 1");
    const { stdout } = await run("identities get --external-id user_1");
    expect(stdout).toContain(`remaining\t6\nrefill\t${shown}\n`);
  });

  test.each([
    [
      "identities update-remaining --op set --value 1",
      "exactly one of <identityId> and --external-id is required",
    ],
    ["keys update-remaining key_1 --op set", "--value is required"],
    ["keys update-remaining key_1 --value 1", "--op is required"],
    ["keys update-remaining key_1 --op set --value 1.5", "--value must be a whole number >= 0"],
    [
      "keys update-remaining key_1 --op add --value 1",
      "--op must be set or increment or decrement",
    ],
    [
      "keys update-remaining key_1 --op increment --value unlimited",
      "--value must be a whole number >= 1",
    ],
  ])("%s is refused", async (args, message) => {
    const { run, refuses } = cliStore();
    await run("permissions create docs.read");
    await refuses(args, message);
  });
});
