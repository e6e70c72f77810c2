import { createHash } from "node:crypto";
import {
  createLatchkey,
  deliveriesOf,
  EMPTY_CHANGE,
  type KeyStore,
  keysOfApi,
  LAST_INSTANT,
  type Latchkey,
} from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { keyRingsFromEnv } from "../key-rings-from-env.js";
import { openStore } from "../open-store.js";
import { type CliStore, cliStore } from "../testing/cli-store.js";

const YEAR_2200 = Date.UTC(2200, 0, 1);
const HOUR = 3_600_000;
/** When the command line runs, give or take a few seconds. */
const NOON = Date.UTC(2031, 4, 17, 12);

/** Runs `work` on the store of a command line, at an instant. */
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

/** A store with a key and its identity, both with a limit and a refill. */
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
  test("reports what it checked in a healthy store, and ends with 0", async () => {
    const { cli } = await storeWithKey();
    const findings = await cli.json("doctor");
    expect(findings.map(({ check }) => check)).toEqual([
      "version",
      "settings",
      "store",
      "clock",
      "records",
      "vault",
      "pepper",
    ]);
    expect(wrongOf(findings)).toEqual([]);
    expect(findings.find(({ check }) => check === "records")).toMatchObject({
      found: "looked at 1 API, 1 key and 1 identity",
    });
  });

  test("accepts a bucket that takes long to fill, and a sliding window that a wrong clock moved", async () => {
    const { cli, keyId, key } = await storeWithKey();
    const bucket = { limit: 1, duration: HOUR, algorithm: "token-bucket", burst: 500 } as const;
    const sliding = { name: "s", limit: 5, duration: HOUR, algorithm: "sliding" } as const;
    await at(cli, NOON, async (latchkey) => {
      await latchkey.updateKey({ keyId, ratelimit: bucket, ratelimits: [sliding] });
      await latchkey.verifyKey({ key, ratelimit: { cost: 500 } });
    });
    expect(wrongOf(await cli.json("doctor"))).toEqual([]);
    await at(cli, YEAR_2200, async (latchkey) => {
      await latchkey.verifyKey({ key, ratelimit: { cost: 0 }, ratelimits: [{ name: "s" }] });
    });
    const { stdout, exitCode } = await cli.run("doctor");
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`key ${keyId}: the limit s stands still until 2200-01-01T01:`);
    expect(stdout).not.toContain("the limit default");
  });

  test("reports what a wrong clock put into the future, and repairs it with --fix", async () => {
    const { cli, key, keyId, identityId } = await storeWithKey();
    await at(cli, YEAR_2200, async (latchkey) => {
      await latchkey.updateIdentity({ identityId, remaining: 8 });
      expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
    });
    const { exitCode, stdout } = await cli.run("doctor");
    expect(stdout.match(/^future\twrong\t.*$/gm)).toEqual([
      `future\twrong\tkey ${keyId}: no refill until 2199-12-15T00:00:00.000Z; --fix mends it`,
      `future\twrong\tkey ${keyId}: the limit default stands still until 2200-01-01T01:00:00.000Z; --fix mends it`,
      `future\twrong\tidentity ${identityId}: no refill until 2200-01-01T00:00:00.000Z; --fix mends it`,
      `future\twrong\tidentity ${identityId}: the limit writes stands still until 2200-01-01T01:00:00.000Z; --fix mends it`,
    ]);
    expect(exitCode).toBe(1);
    expect(wrongOf(await cli.json("doctor --fix"))).toHaveLength(4);
    expect(wrongOf(await cli.json("doctor"))).toEqual([]);
    expect(await cli.json(`keys get ${keyId}`)).toMatchObject([{ remaining: 4 }]);
  });

  test("reports the length of leases, and ends them with --end-leases", async () => {
    const { cli, key } = await storeWithKey();
    const store = openStore(cli.url);
    const latchkey = createLatchkey({ store, leases: { ms: 50 }, clock: () => NOON });
    const { apiId } = await latchkey.createApi({ name: "charts" });
    const free = await latchkey.createKey({ apiId });
    for (let call = 0; call < 20; call += 1) {
      await latchkey.verifyKey({ key: free.key });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect((await cli.run("doctor")).stdout).toMatch(/^leases\tfine\tat most 50 ms; .* 50 ms$/m);
    const ended = await cli.run("doctor --end-leases");
    expect(ended.stdout).toMatch(/^leases\tfine\tthey were ended/m);
    expect((await latchkey.verifyKey({ key })).valid).toBe(true);
    await latchkey.close();
  });

  test("reports leases of dead processes, and counts them as used with --fix", async () => {
    const { cli, keyId: id } = await storeWithKey();
    const store = openStore(cli.url);
    const { found, revision } = await store.read("ws_default", [{ kind: "key", id }]);
    const hold = { keeps: "all", ttl: LAST_INSTANT, slotTtl: null, most: [100] } as const;
    const confirms = [{ kind: "key", id, version: found[0]?.record.version ?? 0 }] as const;
    const plan = {
      workspaceId: "ws_default",
      revision,
      confirms,
      mode: "commit",
      cost: 1,
      uses: 0,
    } as const;
    const charged = await store.charge(
      { ...plan, limits: [], hold },
      { now: NOON - 60_000, refill: null, holdId: "lse_1" },
    );
    expect(charged.kind).toBe("charged");
    const { exitCode, stdout } = await cli.run("doctor");
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`key ${id}: 1 lease of processes that died or are stopped, with `);
    await cli.run("doctor --fix");
    expect(wrongOf(await cli.json("doctor"))).toEqual([]);
    expect(await store.holds("ws_default", { kind: "key", id }, null, 10)).toEqual([]);
    await store.close();
  });

  test("reports the uses of an identity that a dead process leased for a key, and counts them as used with --fix", async () => {
    const { cli, keyId, identityId } = await storeWithKey();
    const store = openStore(cli.url);
    const beside = [
      { kind: "key", id: keyId },
      { kind: "identity", id: identityId },
    ] as const;
    const { found, revision } = await store.read("ws_default", beside);
    const confirms = beside.map((each, place) => ({
      ...each,
      version: found[place]?.record.version ?? 0,
    }));
    const hold = { keeps: "all", ttl: LAST_INSTANT, slotTtl: null, most: [100, 100] } as const;
    const charged = await store.charge(
      {
        workspaceId: "ws_default",
        revision,
        confirms,
        mode: "commit",
        cost: 3,
        uses: 1,
        limits: [],
        hold,
      },
      { now: NOON - 60_000, refill: null, holdId: "lse_1" },
    );
    expect(charged.kind).toBe("charged");
    const { stdout } = await cli.run("doctor");
    const of = "1 lease of processes that died or are stopped, with";
    expect(stdout).toContain(`key ${keyId}: ${of} 0 uses`);
    expect(stdout).toContain(`identity ${identityId}: ${of} 3 uses`);
    await cli.run("doctor --fix");
    expect(wrongOf(await cli.json("doctor"))).toEqual([]);
    await store.close();
  });

  test("finds a key that its hash does not lead to, and repairs it with --fix", async () => {
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

  test("counts list entries without a record, and names damaged records", async () => {
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

  test("names a damaged API among intact ones", async () => {
    const { cli } = await storeWithKey();
    const made = { apiId: "" };
    await at(cli, Date.UTC(2031, 0, 1), async (latchkey, store) => {
      Object.assign(made, await latchkey.createApi({ name: "maps" }));
      const { key } = await latchkey.createKey(made);
      const record = {
        kind: "api",
        id: made.apiId,
        version: 9,
        link: null,
        body: { v: 1 },
      } as const;
      await store.commit("ws_default", { ...EMPTY_CHANGE, puts: [{ record }] });
      await expect(latchkey.verifyKey({ key })).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    });
    const { exitCode, stdout } = await cli.run("doctor");
    expect(stdout).toContain(
      `records\twrong\tthe API ${made.apiId} cannot be read, so none of its keys verifies\n`,
    );
    expect(stdout).toContain("looked at 1 API, 1 key and 1 identity");
    expect(exitCode).toBe(1);
  });

  test("reports that a damaged sender record stops all events, and restarts sending at the end of the log with --fix", async () => {
    const { cli } = await storeWithKey();
    const damage = async (latchkey: Latchkey, store: KeyStore) => {
      const record = { kind: "sender", id: "sender", version: 3, link: null } as const;
      const enters = [{ list: "sender", id: "sender" }];
      const puts = [{ record: { ...record, body: { v: 1, holder: 5 } } }];
      await store.commit("ws_default", { ...EMPTY_CHANGE, enters, puts });
      await expect(deliveriesOf(latchkey).listEndpoints()).rejects.toMatchObject({
        code: "STORE_CORRUPT",
      });
    };
    await at(cli, NOON, damage);
    expect((await cli.run("doctor")).stdout).toContain(
      "webhooks\twrong\tthe record of how far events were sent cannot be read, so none is sent; without it, processes that run send again what happened since they started, and others only later events; --fix mends it\n",
    );
    expect(wrongOf(await cli.json("doctor --fix"))).toMatchObject([{ state: "mended" }]);
    expect(wrongOf(await cli.json("doctor"))).toEqual([]);
  });

  test("reports what it found before the store failed, and never a secret of the settings", async () => {
    const { cli } = await storeWithKey();
    const { exitCode, stdout, stderr } = await cli.run("doctor", {
      env: { LATCHKEY_STORE: "redis://app:hunter2@127.0.0.1:1" },
    });
    expect(stdout).toMatch(
      /^version\tfine\tlatchkey .*\nsettings\tfine\tstore redis, vault not set, /,
    );
    expect(stdout + stderr).not.toContain("hunter2");
    expect(stderr).toMatch(/^latchkey: [^\n]+\n$/);
    expect(exitCode).toBe(1);
  });
});

describe("latchkey doctor tries the key rings", () => {
  const ring = (id: string, byte: number, length = 32) =>
    `${id}:${Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 7 + byte) % 256)).toString("base64")}`;
  const VAULT = ring("v1", 1);
  const PEPPER = ring("p1", 2);

  /** A store with two keys, one of them recoverable, made with a vault key and a pepper. */
  async function sealedStore() {
    const cli = cliStore();
    const env = { LATCHKEY_STORE: cli.url, LATCHKEY_VAULT_KEY: VAULT, LATCHKEY_PEPPER: PEPPER };
    const [{ apiId } = { apiId: "" }] = await cli.json("apis create --name tides", { env });
    await cli.run(`keys create ${apiId} --prefix pay_live`, { env });
    const [made] = await cli.json(`keys create ${apiId} --recoverable`, { env });
    const doctor = async (rings: object) => {
      const store = { LATCHKEY_STORE: cli.url };
      const { exitCode, stdout } = await cli.run("doctor", { env: { ...store, ...rings } });
      const found = stdout.split("\n").filter((row) => /^(?:vault|pepper)\t/.test(row));
      return { exitCode, found };
    };
    return { ...cli, env, apiId: `${apiId}`, keyId: `${made?.keyId}`, doctor };
  }

  test("and reports that they fit", async () => {
    const { doctor } = await sealedStore();
    expect(await doctor({ LATCHKEY_VAULT_KEY: VAULT, LATCHKEY_PEPPER: PEPPER })).toEqual({
      exitCode: 0,
      found: [
        "vault\tfine\topens 1 encrypted secret",
        "pepper\tfine\tfits 1 key that it could be tried on",
      ],
    });
    const both = {
      LATCHKEY_VAULT_KEY: `${ring("v2", 9)},${VAULT}`,
      LATCHKEY_PEPPER: `${ring("p2", 8)},${PEPPER}`,
    };
    expect((await doctor(both)).exitCode).toBe(0);
  });

  test("and reports which one is missing", async () => {
    const { doctor, keyId } = await sealedStore();
    for (const rings of [{}, { LATCHKEY_VAULT_KEY: ring("v2", 1), LATCHKEY_PEPPER: ring("p2", 2) }])
      expect(await doctor(rings)).toEqual({
        exitCode: 1,
        found: [
          `vault\twrong\t1 encrypted secret, the first of ${keyId}: the key v1 of LATCHKEY_VAULT_KEY is missing`,
          "pepper\twrong\t2 keys: the pepper p1 of LATCHKEY_PEPPER is missing, so their secrets are not found",
        ],
      });
  });

  test("and reports which one is a different key with the same id", async () => {
    const { doctor, keyId } = await sealedStore();
    expect(await doctor({ LATCHKEY_VAULT_KEY: ring("v1", 5), LATCHKEY_PEPPER: PEPPER })).toEqual({
      exitCode: 1,
      found: [
        `vault\twrong\t1 encrypted secret, the first of ${keyId}: the key v1 of LATCHKEY_VAULT_KEY cannot decrypt: it is a different key, or the secret is damaged`,
        "pepper\tfine\thas the ids of all hashes; its value can be checked only on recoverable and imported keys, and there are none",
      ],
    });
    expect(await doctor({ LATCHKEY_VAULT_KEY: VAULT, LATCHKEY_PEPPER: ring("p1", 6) })).toEqual({
      exitCode: 1,
      found: [
        "vault\tfine\topens 1 encrypted secret",
        `pepper\twrong\t1 key, the first being ${keyId}: the pepper p1 of LATCHKEY_PEPPER is not the one that their hashes were made with`,
      ],
    });
  });

  test("on imported keys, because their plain hash is known", async () => {
    const { doctor, env, apiId, url } = await sealedStore();
    const store = openStore(url);
    const latchkey = createLatchkey({ store, ...keyRingsFromEnv(env) });
    const value = createHash("sha256").update("a secret of another system").digest("base64");
    await latchkey.createKeys([{ apiId, hash: { value, variant: "sha256_base64" } }]);
    await latchkey.close();
    expect((await doctor({ LATCHKEY_VAULT_KEY: VAULT, LATCHKEY_PEPPER: PEPPER })).found[1]).toBe(
      "pepper\tfine\tfits 2 keys that it could be tried on",
    );
    expect((await doctor({ LATCHKEY_PEPPER: ring("p1", 6) })).found[1]).toMatch(
      /^pepper\twrong\t1 key, /,
    );
  });

  test("as explain and verify do for a secret that no key has", async () => {
    const { env, apiId, json, run, url } = await sealedStore();
    const [made = { key: "" }] = await json(`keys create ${apiId} --prefix tides`, { env });
    const readInput = async () => `${made.key}`;
    for (const args of ["verify -", "explain -"]) {
      const other = { LATCHKEY_STORE: url, LATCHKEY_PEPPER: ring("p2", 2) };
      expect(await run(args, { env: other, readInput })).toMatchObject({
        exitCode: 1,
        stderr:
          "latchkey: keys that begin like this secret: 1 key: the pepper p1 of LATCHKEY_PEPPER is missing, so their secrets are not found\n",
      });
      expect(await run(args, { env, readInput })).toMatchObject({ exitCode: 0, stderr: "" });
      const unknown = { env: other, readInput: async () => "sk_of_another_system" };
      expect(await run(args, unknown)).toMatchObject({ exitCode: 1, stderr: "" });
    }
  });
});
