import { describe, expect, test } from "vitest";
import { cliStore, TERMINAL } from "../testing/cli-store.js";
import { runInProcess } from "../testing/run-in-process.js";

const REPEATED =
  "latchkey: this is the answer of an earlier command with the same --idempotency-key: nothing was done again\n";
const SHOWN =
  "latchkey: the secret was shown the first time, and is not kept: rotate the key to get a new one\n";

/** All commands with this option, such as `keys create`. */
async function commandsWith(option: string): Promise<readonly string[]> {
  const { stdout } = await runInProcess(["completion", "bash"]);
  return [...stdout.matchAll(/^ {4}"latchkey ([^"]*)"\) offers="([^"]*)" ;;$/gm)]
    .filter(([, , offers = ""]) => offers.split(" ").includes(option))
    .map(([, words = ""]) => words);
}

describe("--idempotency-key", () => {
  test("is an option of every command that writes", async () => {
    expect(await commandsWith("--idempotency-key")).toEqual([
      ...["apis create", "apis ensure", "apis update", "apis delete"],
      ...["keys create", "keys update", "keys update-many", "keys update-remaining"],
      ...["keys disable", "keys enable"],
      ...["keys rotate", "keys delete"],
      ...["identities create", "identities update", "identities update-remaining"],
      ...["identities delete", "identities erase"],
      ...["roles create", "roles ensure", "roles update", "roles delete"],
      ...["permissions create", "permissions delete"],
      ...["root-key create", "root-key update", "root-key rotate", "root-key revoke"],
      ...["workspace create", "workspace update", "workspace disable", "workspace enable"],
      "workspace delete",
    ]);
  });

  test("returns the same id, and says that the secret was shown the first time", async () => {
    const { run, json } = cliStore();
    await json("apis create --name payments");
    // The span counts from the first command. Counted from now, it would give another instant.
    const command = "keys create payments --expires 30d --idempotency-key k1";
    const first = await run(command);
    expect(first.stdout).toMatch(/^keyId\tkey_\w+\nkey\t\w+\n$/);
    expect(await run(command)).toEqual({
      exitCode: 0,
      stdout: first.stdout.replace(/key\t\w+\n$/, ""),
      stderr: REPEATED + SHOWN,
    });
    expect(await json("keys list payments")).toHaveLength(1);
    expect(await run(`${command} --name other`)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("this --idempotency-key was used for a write with another"),
    });
    expect(await run("apis create --name maps --idempotency-key")).toMatchObject({ exitCode: 2 });
    expect(
      (await run(`apis create --name maps --idempotency-key ${"k".repeat(129)}`)).stderr,
    ).toMatch(/^latchkey: --idempotency-key must be/);
  });

  test("fails for a root key, so that a script does not continue without the secret", async () => {
    const { run, json } = cliStore();
    const command = "root-key create --permissions * --expires 1d --idempotency-key k1";
    expect((await run(command)).exitCode).toBe(0);
    const [{ id } = {}] = await json("root-key list");
    expect(await run(command)).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `${REPEATED}${SHOWN}latchkey: root key ${id} was issued by an earlier command\n`,
    });
    const shown = await run(`${command} --json`);
    expect(JSON.parse(shown.stdout)).toEqual({ rootKeyId: id, secretShownBefore: true });
    expect(shown.exitCode).toBe(1);
    const rotate = `root-key rotate ${id} --idempotency-key k2 --json`;
    const [first] = await json(`root-key rotate ${id} --idempotency-key k2`);
    const again = await run(rotate);
    expect(JSON.parse(again.stdout).rootKeyId).toBe(first?.rootKeyId);
    expect(again.exitCode).toBe(1);
    const revoke = `root-key revoke ${id} --idempotency-key k3`;
    expect(await run(revoke)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await run(revoke)).toMatchObject({ exitCode: 0, stderr: REPEATED });
  });

  test("returns the same for a deletion by name, even if another record has the name by then, and asks nobody", async () => {
    const { run, json } = cliStore();
    const [first] = await json("apis create --name payments");
    await json("keys create payments");
    const deletion = "keys delete --api-id payments --idempotency-key k1";
    const deleted = await run(deletion);
    expect(deleted.stdout).toBe("1 key is deleted\n");
    expect(await run("apis delete payments --idempotency-key k2")).toMatchObject({
      stdout: `API ${first?.apiId} and its keys are deleted\n`,
      stderr: "",
    });
    const [second] = await json("apis create --name payments");
    await json("keys create payments");
    expect(await run(deletion, TERMINAL)).toEqual({ ...deleted, stderr: REPEATED });
    expect(await run("apis delete payments --idempotency-key k2 --yes", TERMINAL)).toEqual({
      exitCode: 0,
      stdout: `API ${first?.apiId} and its keys are deleted\n`,
      stderr: REPEATED,
    });
    expect(await json("apis list")).toMatchObject([{ id: second?.apiId }]);
    expect(await json("keys list payments")).toHaveLength(1);
  });

  test("says that an update was made before, not that there is nothing to change", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = {}] = await json("apis create --name payments");
    const update = "apis update payments --name billing --idempotency-key k1";
    expect(await run(update)).toMatchObject({ stdout: `API ${apiId} is changed\n`, stderr: "" });
    expect(await run(update)).toEqual({
      exitCode: 0,
      stdout: `API ${apiId} was updated before\n`,
      stderr: REPEATED,
    });
  });

  test("can be used again after a refused command", async () => {
    const { run, json } = cliStore();
    const create = "keys create payments --expires 30d --idempotency-key k1";
    expect(await run(create)).toMatchObject({ exitCode: 1 });
    await json("apis create --name payments");
    expect(await run(create)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("creates a workspace only once", async () => {
    const { run, json } = cliStore();
    const create = "workspace create --name one --idempotency-key k1";
    const { stdout } = await run(create);
    expect(await run(create)).toEqual({ exitCode: 0, stdout, stderr: REPEATED });
    const disable = `workspace disable ${stdout.trim()} --idempotency-key k2`;
    expect((await run(disable)).stdout).toBe((await run(disable)).stdout);
    expect((await json("workspace list")).length).toBeLessThan(3);
  });

  test("says of every command on a workspace that it was done before", async () => {
    const { run, json } = cliStore();
    const id = (await run("workspace create --name one")).stdout.trim();
    for (const [at, command] of [
      `workspace update ${id} --name two`,
      `workspace disable ${id}`,
      `workspace enable ${id}`,
      `workspace disable ${id}`,
      `workspace delete ${id} --confirm ${id}`,
    ].entries()) {
      const repeatable = `${command} --idempotency-key k${at}`;
      const first = await run(repeatable);
      expect(first, command).toMatchObject({ exitCode: 0, stderr: "" });
      if (at === 3) await run(`workspace enable ${id}`);
      const again = await run(repeatable);
      expect({ ...again, stderr: again.stderr.slice(0, REPEATED.length) }, command).toEqual({
        ...first,
        stderr: REPEATED,
      });
      if (at === 3)
        expect(await json(`workspace get --workspace ${id}`)).toMatchObject([{ enabled: true }]);
    }
  });
});
