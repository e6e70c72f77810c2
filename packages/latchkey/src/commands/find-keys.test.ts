import { createLatchkey } from "@latchkey/core";
import { beforeEach, describe, expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { type CliStore, cliStore, TERMINAL } from "../testing/cli-store.js";

let cli: CliStore;
let apiId: string;

beforeEach(async () => {
  cli = cliStore();
  const [api] = await cli.json("apis create --name payments");
  apiId = api?.apiId ?? "";
  await cli.run("apis create --name maps");
});

const create = async (options: string) => (await cli.json(`keys create ${options}`))[0]?.keyId;
const find = async (options: string) =>
  (await cli.json(`keys find${options}`)).map(({ id }): unknown => id);

describe("keys find", () => {
  test("finds the keys of all APIs, of one by its name, or of a user", async () => {
    const one = await create("payments --external-id user_1");
    const two = await create("maps --external-id user_1");
    const three = await create("maps");
    expect(await find("")).toEqual([one, two, three]);
    expect(await find(" --api-id maps")).toEqual([two, three]);
    expect(await find(" --external-id user_1")).toEqual([one, two]);
    expect(await find(" --external-id user_1 --api-id payments")).toEqual([one]);
    const [identity] = await cli.json("identities get --external-id user_1");
    expect(await find(` --identity-id ${identity?.id}`)).toEqual([one, two]);
  });

  test("finds keys by their state and their contents", async () => {
    const one = await create("payments --name Deploys --environment live --tags eu,billing");
    const two = await create(
      "maps --permissions docs.* --roles crew --create --environment test --name=-staging",
    );
    await cli.run(`keys disable ${one}`);
    expect(await find(" --enabled no")).toEqual([one]);
    expect(await find(" --enabled yes")).toEqual([two]);
    expect(await find(" --name-contains DEP")).toEqual([one]);
    expect(await find(" --name-contains=-staging")).toEqual([two]);
    expect(await find(" --permission docs.read")).toEqual([two]);
    expect(await find(" --role crew")).toEqual([two]);
    expect(await find(" --environment live")).toEqual([one]);
    expect(await find(" --tags billing,eu")).toEqual([one]);
    expect(await find(" --tags eu --enabled yes")).toEqual([]);
  });

  test("finds keys by instants: a span is from now on for an expiry, and ago for past instants", async () => {
    const soon = await create("payments --expires 3d");
    const late = await create("payments --expires 60d");
    const never = await create("payments");
    expect(await find(" --expires-before 7d")).toEqual([soon]);
    expect(await find(" --expires-after 7d")).toEqual([late]);
    expect(await find(" --expires-before 2031-05-21")).toEqual([soon]);
    expect(await find(" --created-after 1h")).toEqual([soon, late, never]);
    expect(await find(" --created-before 1h")).toEqual([]);
    expect(await find(" --used-before 1d")).toEqual([soon, late, never]);
    expect(await find(" --used-after 1d")).toEqual([]);
    const order = ` --api-id ${apiId} --order-by expires`;
    expect(await find(order)).toEqual([soon, late, never]);
    expect(await find(`${order} --order desc`)).toEqual([never, late, soon]);
  });

  test("finds keys by any start of their secret", async () => {
    const [made] = await cli.json("keys create payments --prefix pay_live");
    await create("payments --prefix pay_test");
    const secret = String(made?.key);
    const [{ start } = { start: "" }] = await cli.json(`keys get ${made?.keyId}`);
    for (const known of ["pay_live", "pay_live_…", start, `${start}…`, secret.slice(0, 36)])
      expect([known, await find(` --start ${known}`)]).toEqual([known, [made?.keyId]]);
    expect(await find(" --start pay_")).toHaveLength(2);
    expect(await find(" --start pay_liveX")).toEqual([]);
    expect((await cli.run(`keys find --start ${secret}`)).stderr).toContain(
      "a secret must not be an argument",
    );
  });

  test("reads all pages, even those without a match", async () => {
    const latchkey = createLatchkey({ store: openStore(cli.url) });
    await latchkey.createKeys(
      Array.from({ length: 100 }, (_, at) => ({ apiId, plaintext: `elsewhere-${at}` })),
    );
    await latchkey.close();
    const last = await create("payments --prefix acme");
    expect(await find("")).toHaveLength(101);
    expect(await find(" --start acme_")).toEqual([last]);
  });

  test("prints the columns of a list, and the API for programs", async () => {
    const keyId = await create("maps --name Deploys");
    const { stdout } = await cli.run("keys find");
    const cells = stdout.trimEnd().split("\t");
    expect([cells[0], cells[7], cells[8]]).toEqual([
      keyId,
      "Deploys",
      expect.stringMatching(/^api_/),
    ]);
    expect((await cli.run("keys find", TERMINAL)).stdout).toContain("Deploys");
  });

  test("on a terminal the state says until when a key is enabled, otherwise when it expires", async () => {
    await create("maps --expires 30d --tags a");
    const usedUp = await create("maps --expires 30d --remaining 1 --tags b");
    await cli.run(`keys update ${usedUp} --remaining 0`);
    await create("maps --expires 30d --starts-at 10d --tags c");
    const wide = { terminal: { ...TERMINAL.terminal, columns: 200 } };
    const stateOf = async (tag: string) => {
      const { stdout } = await cli.run(`keys find --tags ${tag}`, wide);
      return stdout.split("\n")[1]?.split(/ {2,}/)[2];
    };
    expect(await stateOf("a")).toBe("enabled until 2031-06-16");
    expect(await stateOf("b")).toBe("no uses left, expires 2031-06-16");
    expect(await stateOf("c")).toBe("not started, expires 2031-06-16");
  });

  test.each([
    ["--used-before soon", "--used-before must be an ISO date, such as 2031-05-17"],
    ["--enabled maybe", "--enabled must be yes or no"],
    ["--order-by name", "--order-by must be createdAt or expires or lastUsedAt"],
    ["--name-contains=", "--name-contains needs a value"],
    ["--name-contains -staging", "--name-contains needs a value"],
    ["--identity-id id_1 --external-id a", "--identity-id must not be given with --external-id"],
    ["--order-by expires", "only the keys of an API or owner with at most 2000 keys"],
  ])("refuses wrong options by name: %s", async (options, message) => {
    const { exitCode, stderr } = await cli.run(`keys find ${options}`);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(message);
  });
});
