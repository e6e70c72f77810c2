import {
  createLatchkey,
  EMPTY_CHANGE,
  type KeyStore,
  keysOfApi,
  type Latchkey,
} from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { type CliStore, cliStore } from "../testing/cli-store.js";

const YEAR_2200 = Date.UTC(2200, 0, 1);
const HOUR = 3_600_000;

/** Works on the store of a command line, at an instant. */
async function at(
  { url }: CliStore,
  now: number,
  work: (latchkey: Latchkey, store: KeyStore) => Promise<void>,
) {
  const store = openStore(url);
  const latchkey = createLatchkey({ store, clock: () => now });
  await work(latchkey, store);
  await latchkey.close();
}

/** A key and its identity, both with a limit and uses that are refilled. */
async function storeWithKey() {
  const cli = cliStore();
  const made = { key: "", keyId: "", identityId: "" };
  await at(cli, Date.UTC(2031, 0, 1), async (latchkey) => {
    const { apiId } = await latchkey.createApi({ name: "tides" });
    const { identityId } = await latchkey.createIdentity({
      externalId: "user_1",
      remaining: 9,
      refill: { interval: "daily", amount: 9 },
      ratelimits: [{ name: "writes", limit: 5, duration: HOUR, autoApply: true }],
    });
    const counted = {
      remaining: 5,
      refill: { interval: "monthly", amount: 5, refillDay: 15 },
      ratelimit: { limit: 10, duration: HOUR },
    } as const;
    const created = await latchkey.createKey({ apiId, externalId: "user_1", ...counted });
    Object.assign(made, created, { identityId });
  });
  return { cli, ...made };
}

const wrongOf = (findings: readonly object[]) =>
  findings.filter((finding) => "state" in finding && finding.state !== "fine");

describe("latchkey doctor", () => {
  test("of a store that is well says what it saw, and ends with 0", async () => {
    const { cli } = await storeWithKey();
    const findings = await cli.json("doctor");
    expect(findings.map(({ check }) => check)).toEqual([
      "version",
      "settings",
      "store",
      "clock",
      "records",
    ]);
    expect(wrongOf(findings)).toEqual([]);
    expect(findings.at(-1)).toMatchObject({
      found: "1 APIs, 1 keys and 1 identities were looked at",
    });
  });

  test("names what a wrong clock put into the future, and mends it with --fix", async () => {
    const { cli, key, keyId, identityId } = await storeWithKey();
    await at(cli, YEAR_2200, async (latchkey) => {
      await latchkey.updateIdentity({ identityId, remaining: 8 });
      expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
    });
    const { exitCode, stdout } = await cli.run("doctor");
    expect(stdout.match(/^future\twrong\t.*$/gm)).toEqual([
      `future\twrong\tkey ${keyId}: no refill until 2199-12-15T00:00:00.000Z; --fix mends it`,
      `future\twrong\tkey ${keyId}: the limit default stands until 2200-01-01T01:00:00.000Z; --fix mends it`,
      `future\twrong\tidentity ${identityId}: no refill until 2200-01-01T00:00:00.000Z; --fix mends it`,
      `future\twrong\tidentity ${identityId}: the limit writes stands until 2200-01-01T01:00:00.000Z; --fix mends it`,
    ]);
    expect(exitCode).toBe(1);
    expect(wrongOf(await cli.json("doctor --fix"))).toHaveLength(4);
    expect(wrongOf(await cli.json("doctor"))).toEqual([]);
    expect(await cli.json(`keys get ${keyId}`)).toMatchObject([{ remaining: 4 }]);
  });

  test("finds a key that its hash does not lead to, and mends it with --fix", async () => {
    const { cli, key, keyId } = await storeWithKey();
    await at(cli, Date.UTC(2031, 0, 1), async (latchkey, store) => {
      const { found } = await store.read("ws_default", [{ kind: "key", id: keyId }]);
      const { hash = "" } = (found[0]?.record.body ?? {}) as { hash?: string };
      const releases = [{ kind: "key", index: "hash", value: hash, id: keyId }] as const;
      await store.commit("ws_default", { ...EMPTY_CHANGE, releases });
      expect((await latchkey.verifyKey({ key })).code).toBe("NOT_FOUND");
    });
    expect((await cli.run("doctor")).stdout).toContain(
      `names\twrong\tkey ${keyId}: its hash leads nowhere; --fix mends it\n`,
    );
    expect(wrongOf(await cli.json("doctor --fix"))).toMatchObject([{ state: "mended" }]);
    await at(cli, Date.UTC(2031, 0, 1), async (latchkey) => {
      expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
    });
  });

  test("counts entries of lists whose record is gone, and names records that cannot be read", async () => {
    const { cli, keyId } = await storeWithKey();
    await at(cli, Date.UTC(2031, 0, 1), async (latchkey, store) => {
      const [{ id: apiId } = { id: "" }] = (await latchkey.listApis()).apis;
      const enters = [{ list: keysOfApi(apiId), id: "key_gone" }];
      const record = { kind: "key", id: keyId, version: 9, link: null, body: { v: 1 } } as const;
      await store.commit("ws_default", { ...EMPTY_CHANGE, enters, puts: [{ record }] });
    });
    const { exitCode, stdout } = await cli.run("doctor");
    expect(stdout).toMatch(/^lists\twrong\tthe list \S+ has 2 entries, and 1 records were/m);
    expect(stdout).toContain(`records\twrong\tthe key ${keyId} cannot be read\n`);
    expect(exitCode).toBe(1);
  });

  test("says what was found before the store failed, and never a secret of the settings", async () => {
    const { cli } = await storeWithKey();
    const { exitCode, stdout, stderr } = await cli.run(
      "doctor --store redis://app:hunter2@127.0.0.1:1",
    );
    expect(stdout).toMatch(
      /^version\tfine\tlatchkey .*\nsettings\tfine\tstore redis, vault not set, /,
    );
    expect(stdout + stderr).not.toContain("hunter2");
    expect(stderr).toMatch(/^latchkey: [^\n]+\n$/);
    expect(exitCode).toBe(1);
  });
});
