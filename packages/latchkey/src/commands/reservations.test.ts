import { createLatchkey, type InputOf } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { cliStore, TERMINAL } from "../testing/cli-store.js";

/** The instant of the first command. */
const NOON = Date.UTC(2031, 4, 17, 12);

const PARALLEL = "parallel=2/2m:concurrent:auto";

/** A key with uses and slots, of which another process makes reservations. */
async function open() {
  const cli = cliStore();
  const [{ apiId } = { apiId: "" }] = await cli.json("apis create --name maps");
  const [{ keyId, key } = { keyId: "", key: "" }] = await cli.json(
    `keys create ${apiId} --remaining 100 --external-id user_1 --ratelimits ${PARALLEL}`,
  );
  const [{ id: identityId } = { id: "" }] = await cli.json("identities get --external-id user_1");
  const reserve = async (input: Omit<InputOf<"reserve">, "key"> = {}) => {
    const store = openStore(cli.url);
    const latchkey = createLatchkey({ store, clock: () => NOON });
    const verdict = await latchkey.reserve({ key, ...input });
    await latchkey.close();
    if (verdict.code !== "VALID") throw new Error(verdict.code);
    return verdict.reservationId;
  };
  return { ...cli, keyId, identityId, key, reserve };
}

describe("latchkey reservations", () => {
  test("lists the reservations of a key or an identity, and releases them", async () => {
    const { run, json, keyId, identityId, reserve } = await open();
    const reservationId = await reserve({ remaining: { cost: 40 } });
    for (const whose of [`--key-id ${keyId}`, `--identity-id ${identityId}`]) {
      const { stdout } = await run(`reservations list ${whose}`);
      expect(stdout.split("\t")).toEqual([
        reservationId,
        keyId,
        "2031-05-17T12:00:00.000Z",
        "2031-05-17T12:05:00.000Z",
        "40",
        "parallel=1\n",
      ]);
    }
    expect(await json(`reservations list --key-id ${keyId}`)).toEqual([
      {
        reservationId,
        keyId,
        createdAt: NOON,
        expiresAt: NOON + 300_000,
        uses: 40,
        ratelimits: [{ name: "parallel", cost: 1 }],
      },
    ]);
    expect((await run(`keys get ${keyId}`)).stdout).toContain("\nremaining\t60\nreserved\t40\n");
    expect(await run(`reservations release ${reservationId}`)).toEqual({
      exitCode: 0,
      stdout: `reservation ${reservationId} is released\n`,
      stderr: "",
    });
    expect(await json(`reservations list --key-id ${keyId}`)).toEqual([]);
    expect((await run(`keys get ${keyId}`)).stdout).toContain("\nremaining\t100\n");
    const [parallel] = await json(`limits ${keyId}`);
    expect(parallel).toMatchObject({ algorithm: "concurrent", remaining: 2 });
  });

  test("quotes a limit name that would read as two", async () => {
    const { run, json, keyId, reserve } = await open();
    const limits = ["a=1,b", "plain"].map((name) => ({
      name,
      limit: 9,
      duration: 60_000,
      cost: 2,
    }));
    const reservationId = await reserve({ ratelimits: limits });
    const { stdout } = await run(`reservations list --key-id ${keyId}`);
    expect(stdout).toContain('"a=1,b"=2,plain=2');
    const [{ ratelimits } = { ratelimits: [] }] = await json(`reservations list --key-id ${keyId}`);
    expect(ratelimits).toContainEqual({ name: "a=1,b", cost: 2 });
    await run(`reservations release ${reservationId}`);
  });

  test("fits 100 columns on a terminal, with ids in one piece", async () => {
    const { run, keyId, reserve } = await open();
    const first = await reserve({ remaining: { cost: 2 }, ttl: "1h" });
    const { stdout } = await run(`reservations list --key-id ${keyId}`, {
      terminal: { ...TERMINAL.terminal, columns: 100 },
    });
    const [titles = "", row = ""] = stdout.split("\n");
    expect(titles.split(/\s{2,}/)).toEqual(["ID", "KEY", "EXPIRES IN", "USES", "LIMITS"]);
    expect(row).toMatch(new RegExp(`^${first}\\s+${keyId}\\s+\\d+s\\s+2\\s+parallel`));
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  test("needs either a key or an identity, and an existing reservation", async () => {
    const { run } = await open();
    const complaint = "exactly one of --key-id and --identity-id must be given";
    for (const whose of ["", " --key-id key_1 --identity-id id_1"]) {
      const { exitCode, stderr } = await run(`reservations list${whose}`);
      expect(exitCode).toBe(2);
      expect(stderr).toBe(`latchkey: ${complaint} (see --help)\n`);
    }
    const { exitCode, stderr } = await run("reservations release rsv_none");
    expect([exitCode, stderr]).toEqual([1, "latchkey: no such reservation\n"]);
  });
});

describe("a slot of a concurrent limit", () => {
  test("is printed by verify with the id that frees it, and counted by limits and explain", async () => {
    const { run, json, keyId, key } = await open();
    const verify = () => json("verify -", { readInput: async () => key });
    const [{ reservationId } = { reservationId: "" }] = await verify();
    expect(await json(`limits ${keyId}`)).toMatchObject([{ name: "parallel", remaining: 1 }]);
    await verify();
    const { stdout, exitCode } = await run(`explain ${keyId}`);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/ratelimit\tREFUSES\tparallel: takes 1 of 0 left of 2, .*concurrent\t/);
    await run(`reservations release ${reservationId}`);
    expect((await run(`explain ${keyId}`)).exitCode).toBe(0);
  });
});
