import { describe, expect, test } from "vitest";
import { type CliStore, cliStore, TERMINAL } from "../testing/cli-store.js";

/** Creates an API and a key with these settings. */
async function keyWith({ json }: CliStore, settings: string) {
  const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
  const [made = { keyId: "", key: "" }] = await json(`keys create ${apiId} ${settings}`.trim());
  return { apiId, ...made } as { apiId: string; keyId: string; key: string };
}

const onStdin = (secret: string) => ({ readInput: async () => `${secret}\n` });

describe("latchkey verify", () => {
  test("takes the secret from stdin, and the cost from the key", async () => {
    const store = cliStore();
    const { key, keyId } = await keyWith(store, "--remaining 3");
    const [verdict] = await store.json("verify - --cost 2", onStdin(key));
    expect(verdict).toMatchObject({ code: "VALID", keyId, remaining: 1 });
    const again = await store.run("verify - --cost 2", onStdin(key));
    expect(again.stdout).toContain("code\tUSAGE_EXCEEDED\n");
    expect(again).toMatchObject({ exitCode: 1, stderr: "" });
    const unknown = await store.run("verify -", onStdin("unknown"));
    expect(unknown).toEqual({ exitCode: 1, stdout: "code\tNOT_FOUND\n", stderr: "" });
  });

  test("prints the missing permissions", async () => {
    const store = cliStore();
    await store.run("permissions create docs.read");
    const { key } = await keyWith(store, "--permissions docs.read");
    const { exitCode, stdout } = await store.run(
      "verify - --permissions docs.read,docs.write",
      onStdin(key),
    );
    expect(stdout).toContain("code\tINSUFFICIENT_PERMISSIONS\n");
    expect(stdout).toContain('missing\t"docs.write"\n');
    expect(exitCode).toBe(1);
  });

  test("with --dry-run it takes nothing", async () => {
    const store = cliStore();
    const { key } = await keyWith(store, "--remaining 3");
    for (const _ of [1, 2])
      expect(await store.json("verify - --dry-run", onStdin(key))).toMatchObject([
        { remaining: 2, checks: expect.anything() },
      ]);
  });

  test.each(["", "x".repeat(513)])("a secret of an impossible length is refused", async (text) => {
    const { exitCode, stderr } = await cliStore().run("verify -", onStdin(text));
    expect(stderr).toContain("the secret on stdin must be 1 to 512 characters");
    expect(exitCode).toBe(2);
  });
});

describe("latchkey exchange", () => {
  const LATCHKEY_TOKEN_KEY = Buffer.from(Array.from({ length: 32 }, (_, at) => at)).toString(
    "base64",
  );

  test("prints a token with the requested claims for a valid key", async () => {
    const store = cliStore();
    const LATCHKEY_TOKEN_ISSUER = "https://keys.example";
    const env = { LATCHKEY_STORE: store.url, LATCHKEY_TOKEN_KEY, LATCHKEY_TOKEN_ISSUER };
    const { key, keyId } = await keyWith(store, "--remaining 2 --expires 30d");
    const command = "exchange - --audience billing --ttl 30s";
    const printed = await store.run(command, { ...onStdin(key), env });
    expect(printed).toMatchObject({ exitCode: 0, stderr: "" });
    const [, payload = ""] = printed.stdout.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    expect(claims).toMatchObject({
      iss: LATCHKEY_TOKEN_ISSUER,
      sub: keyId,
      aud: "billing",
      exp: claims.iat + 30,
    });
    const [answer] = await store.json(command, { ...onStdin(key), env });
    expect(answer).toMatchObject({
      code: "VALID",
      remaining: 0,
      tokenExpiresAt: expect.any(Number),
    });
    const refused = await store.run(command, { ...onStdin(key), env });
    expect(refused).toMatchObject({ exitCode: 1, stderr: "" });
    expect(refused.stdout).toContain("code\tUSAGE_EXCEEDED\n");
  });

  test("names what is missing: the audience, a ttl within bounds, token keys", async () => {
    const store = cliStore();
    const env = { LATCHKEY_STORE: store.url, LATCHKEY_TOKEN_KEY };
    const { key } = await keyWith(store, "");
    const parts = { ...onStdin(key), env };
    expect(await store.run("exchange -", parts)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--audience"),
    });
    expect(await store.run("exchange - --audience billing --ttl 16m", parts)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--ttl"),
    });
    expect(await store.run("exchange - --audience billing", onStdin(key))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("LATCHKEY_TOKEN_KEY"),
    });
  });
});

describe("a secret among the arguments", () => {
  test("is refused by every command, with a hint to use stdin", async () => {
    const store = cliStore();
    const { key } = await keyWith(store, "--prefix pay_live");
    for (const args of [
      `verify ${key}`,
      `explain ${key}`,
      `keys get ${key}`,
      `keys list api_1 --external-id=${key}`,
      "verify sk_live_of_another_system",
      "explain sk_live_of_another_system",
    ]) {
      const { exitCode, stdout, stderr } = await store.run(args);
      expect(stderr).toMatch(/^latchkey: a secret must not be an argument, .* on stdin /);
      expect(stderr + stdout).not.toContain(key);
      expect(exitCode).toBe(2);
    }
  });
});

describe("latchkey explain", () => {
  test("prints every check for an id, and when the key would pass", async () => {
    const store = cliStore();
    const { keyId, key } = await keyWith(store, "--remaining 1 --refill daily:1 --ratelimit 9/1h");
    await store.run("verify -", onStdin(key));
    const { exitCode, stdout } = await store.run(`explain ${keyId}`);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => line.split("\t").slice(0, 2).join(" "))).toEqual([
      "exists passes",
      "enabled passes",
      "api passes",
      "expiry passes",
      "address passes",
      "permissions passes",
      "ratelimit passes",
      "uses REFUSES",
      "USAGE_EXCEEDED: it would pass at 2031-05-18T00:00:00.000Z if nothing else happens",
    ]);
    expect(lines[6]).toContain("default: takes 1 of 8 left of 9, until 2031-05-17T13:00:00.000Z");
    expect(lines[7]).toContain("takes 1 of 0 left of the key, refilled 2031-05-18T00:00:00.000Z");
    expect(exitCode).toBe(1);
  });

  test("says of a secret if waiting does not help", async () => {
    const store = cliStore();
    const { key, keyId } = await keyWith(store, "");
    await store.run(`keys disable ${keyId}`);
    const refused = await store.run("explain - --permissions docs.read", onStdin(key));
    expect(refused.stdout).toContain(
      "enabled\tREFUSES\tswitched off: keys enable\tnot by waiting\n",
    );
    expect(refused.stdout).toContain('missing "docs.read"');
    expect(refused.stdout).toMatch(/\nDISABLED: waiting does not help\n$/);
    await store.run(`keys enable ${keyId}`);
    expect((await store.run(`explain ${keyId}`)).stdout).toMatch(/\nVALID: it would be let in\n$/);
  });
});

describe("latchkey limits", () => {
  test("shows the current windows of a key and of its identity, and takes nothing", async () => {
    const store = cliStore();
    await store.run("identities create user_1 --ratelimits writes=5/1h");
    const { key, keyId } = await keyWith(store, "--external-id user_1 --ratelimit 10/30m");
    await store.run("verify - --limits writes=2,default=3", onStdin(key));
    for (const _ of [1, 2])
      expect(await store.json(`limits ${keyId}`)).toMatchObject([
        { name: "default", of: "key", limit: 10, duration: 1_800_000, remaining: 7 },
        { name: "writes", of: "identity", limit: 5, remaining: 3 },
      ]);
    expect((await store.run("limits --external-id user_1")).stdout).toMatch(
      /^writes\tidentity\t5\t1h\t3\t2031-05-17T13:00:00.000Z\n$/,
    );
  });
});

describe("limits with another algorithm", () => {
  test("are shown by limits and explain, with when the key would pass", async () => {
    const store = cliStore();
    const options = "--ratelimit 6/1m:burst=2 --ratelimits a=1/1m:sliding:shadow:auto";
    const { key, keyId } = await keyWith(store, options);
    await store.run("verify -", onStdin(key));
    await store.run("verify -", onStdin(key));
    expect((await store.run(`limits ${keyId}`)).stdout).toMatch(
      /^default\tkey\t6\t1m:burst=2\t0\t\S+:23\.000Z\na\tkey\t1\t1m:sliding:shadow\t0\t\S+\n$/,
    );
    const { stdout, exitCode } = await store.run(`explain ${keyId}`);
    expect(stdout).toContain("default: takes 1 of 0 left of 2, until ");
    expect(stdout).toMatch(/ratelimit\tREFUSES\t.*, token-bucket\t\S+:13\.000Z\n/);
    expect(stdout).toMatch(/ratelimit\tpasses\ta: .*, sliding, shadow: would refuse\t/);
    expect(stdout).toMatch(
      /RATE_LIMITED: it would pass at \S+:13\.000Z if nothing else happens\n$/,
    );
    expect(exitCode).toBe(1);
    const usage = (await store.run(`usage ${keyId}`, TERMINAL)).stdout;
    expect(usage).toMatch(/^TIME +VALID +REFUSED +SHADOW/);
    expect(usage).toMatch(/^\S+ +2 +0 +1 +█+$/m);
  });
});

describe("latchkey usage", () => {
  test("counts verifications by bucket, with a bar for each on a terminal", async () => {
    const store = cliStore();
    const { key, keyId, apiId } = await keyWith(store, "--remaining 1");
    await store.run("verify -", onStdin(key));
    await store.run("verify -", onStdin(key));
    const days = await store.json(`usage ${keyId}`);
    expect(days.at(-1)).toMatchObject({ outcomes: { VALID: 1, USAGE_EXCEEDED: 1 } });
    const month = await store.run(`usage --api-id ${apiId} --granularity month`);
    expect(month.stdout).toMatch(/Z\t1\t1\n$/);
    const terminal = { columns: 60, hasColors: false };
    expect((await store.run(`usage ${keyId}`, { terminal })).stdout).toMatch(/ {2}█{10}░{10}\n$/);
  });

  test("needs exactly one subject", async () => {
    const store = cliStore();
    await store.run("apis create --name payments");
    const { exitCode, stderr } = await store.run("usage");
    expect(stderr).toContain("exactly one of <keyId>, --identity-id (or --external-id)");
    expect(exitCode).toBe(2);
  });
});

describe("latchkey audit", () => {
  test("shows the latest changes, newest last, with actor and details", async () => {
    const store = cliStore();
    const { keyId } = await keyWith(store, "");
    await store.run(`keys update ${keyId} --name deploys`);
    const { stdout } = await store.run("audit --limit 2");
    expect(stdout.split("\n").map((line) => line.split("\t").slice(1))).toEqual([
      ["cli", "key.created", keyId, expect.any(String)],
      ["cli", "key.updated", keyId, 'name: none -> "deploys"'],
      [],
    ]);
    expect(await store.json(`audit --key-id ${keyId}`)).toHaveLength(2);
  });

  test("with --follow continues with new changes, until it is stopped", async () => {
    const store = cliStore();
    const changes = ["api_one", "api_two"];
    const pause = async () => {
      const name = changes.shift();
      if (name === undefined) return false;
      await store.run(`apis create --name ${name}`);
      return true;
    };
    await store.run("apis create --name before");
    const { exitCode, stdout } = await store.run("audit --limit 1 --follow", { pause });
    expect(stdout.match(/name: none -> "\w+"/g)).toEqual([
      'name: none -> "before"',
      'name: none -> "api_one"',
      'name: none -> "api_two"',
    ]);
    expect(exitCode).toBe(0);
  });
});
