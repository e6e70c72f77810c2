import { createLatchkey, type InputOf, type Latchkey } from "@latchkey/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../src/open-store.js";
import { cliStore, TERMINAL } from "../src/testing/cli-store.js";
import { wrapped } from "./wrapped-store.js";

/** The instant of the leases. */
const NOON = Date.UTC(2031, 4, 17, 12);
/** By then, a live process has returned its leases. */
const LATER = { clock: () => NOON + 20_000 };
const AT_NOON = { clock: () => NOON + 19_999 };

const GRANTED = 10_000;

/** A key with uses and a limit that a process has leased from, and a function that makes the process return the lease. */
async function leased(isShared = false) {
  const cli = cliStore();
  const opened = openStore(cli.url);
  let mayGiveBack = false;
  const store = wrapped(opened, {
    settle: async (...given) => {
      if (mayGiveBack) return opened.settle(...given);
      throw Object.assign(new Error("not yet"), { code: "STORE_UNAVAILABLE" });
    },
  });
  let isLeased = false;
  const latchkey: Latchkey = createLatchkey({
    store,
    clock: () => NOON,
    leases: { ms: 10_000 },
    onEvent: (event) => {
      if ("leased" in event) isLeased = true;
    },
  });
  let isClosed = false;
  const close = async () => {
    mayGiveBack = true;
    if (!isClosed) await latchkey.close();
    isClosed = true;
  };
  onTestFinished(close);
  const { apiId } = await latchkey.createApi({ name: "tides" });
  if (isShared) await latchkey.createIdentity({ externalId: "user_1", remaining: GRANTED });
  const uses = isShared ? { externalId: "user_1", usesFrom: "identity" } : { remaining: GRANTED };
  const ratelimit = { limit: 5_000, duration: "1h" } as const;
  const { key, keyId } = await latchkey.createKey({
    apiId,
    ratelimit,
    ...uses,
  } as InputOf<"createKey">);
  let admitted = 0;
  while (!isLeased) {
    admitted += 1;
    await latchkey.verifyKey({ key });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const { reserved = 0 } = await latchkey.getKey({ keyId });
  return { ...cli, latchkey, key, keyId, admitted, reserved, close };
}

describe("latchkey leases", () => {
  test("lists the leases of processes, and nothing after they were returned", async () => {
    const { json, run, keyId, reserved, close } = await leased();
    const [lease] = await json("leases", AT_NOON);
    const { leaseId } = lease as unknown as { leaseId: string };
    expect(leaseId).toMatch(/^lse_/);
    expect(lease).toEqual({
      leaseId,
      keyId,
      createdAt: NOON,
      endsAt: NOON + 10_000,
      state: "in use",
      uses: reserved,
      ratelimits: [{ name: "default", cost: reserved }],
    });
    const { stdout } = await run("leases", AT_NOON);
    expect(stdout.split("\t")).toEqual([
      leaseId,
      keyId,
      "2031-05-17T12:00:00.000Z",
      "2031-05-17T12:00:10.000Z",
      "in use",
      `${reserved}`,
      `default=${reserved}\n`,
    ]);
    await close();
    expect(await json("leases", AT_NOON)).toEqual([]);
    expect((await run("leases", AT_NOON)).stdout).toBe("");
  });

  test("with --end-dead counts leases of dead processes as used, and touches no other", async () => {
    const { json, keyId, reserved } = await leased();
    const [before] = await json(`keys get ${keyId}`);
    expect(await json("leases --end-dead", AT_NOON)).toMatchObject([{ state: "in use" }]);
    expect(await json(`keys get ${keyId}`)).toEqual([before]);
    expect(await json("leases", LATER)).toMatchObject([{ state: "seems dead", uses: reserved }]);
    expect(await json(`keys get ${keyId}`)).toEqual([before]);
    expect(await json("leases --end-dead", LATER)).toMatchObject([{ state: "counted as used" }]);
    expect(await json("leases", LATER)).toEqual([]);
    const { reserved: _, ...rest } = before as unknown as { reserved: number };
    expect(await json(`keys get ${keyId}`)).toEqual([rest]);
  });

  test("goes on when nobody reads its output any more only with --end-dead", async () => {
    const { json } = cliStore();
    await json("apis create --name tides");
    const calls: string[] = [];
    for (const args of ["leases", "leases --end-dead"])
      await json(args, { keepGoing: () => void calls.push(args) });
    expect(calls).toEqual(["leases --end-dead"]);
  });

  test("a process whose lease was ended continues, and no use is admitted twice", async () => {
    const { json, latchkey, key, keyId, admitted, reserved, close } = await leased();
    await json("leases --end-dead", LATER);
    for (let use = 0; use < 2 * reserved; use += 1)
      expect((await latchkey.verifyKey({ key })).valid).toBe(true);
    await close();
    const [{ remaining } = { remaining: 0 }] = await json(`keys get ${keyId}`);
    expect(GRANTED - remaining).toBeGreaterThanOrEqual(admitted + 2 * reserved);
    expect(GRANTED - remaining).toBeLessThanOrEqual(admitted + 3 * reserved);
  });

  test("lists a lease on both a key and its identity only once", async () => {
    const { json, latchkey, keyId } = await leased(true);
    const { id: identityId, reserved } = await latchkey.getIdentity({ externalId: "user_1" });
    const ratelimits = [{ name: "default", cost: reserved }];
    expect(await json("leases", AT_NOON)).toMatchObject([
      { keyId, identityId, state: "in use", uses: reserved, ratelimits },
    ]);
  });

  test("fits 120 columns on a terminal, with ids in one piece", async () => {
    const { run, keyId } = await leased();
    const terminal = { ...TERMINAL.terminal, columns: 120 };
    const { stdout } = await run("leases", { ...AT_NOON, terminal });
    const [titles = "", row = ""] = stdout.split("\n");
    expect(titles.split(/\s{2,}/)).toEqual(["ID", "KEY", "SINCE", "STATE", "USES", "LIMITS"]);
    expect(row).toContain(keyId);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  });
});
