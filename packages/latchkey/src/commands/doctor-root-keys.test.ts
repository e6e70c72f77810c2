import { createHash } from "node:crypto";
import { createLatchkey, DIRECTORY_ID, EMPTY_CHANGE } from "@latchkey/core";
import { expect, onTestFinished, test } from "vitest";
import { keyRingsFromEnv } from "../key-rings-from-env.js";
import { openStore } from "../open-store.js";
import { cliStore } from "../testing/cli-store.js";

/** A store with a root key, and a latchkey on it. */
async function storeWithRootKey(env: Readonly<Record<string, string>> = {}) {
  const cli = cliStore();
  const store = openStore(cli.url);
  const latchkey = createLatchkey({ store, ...keyRingsFromEnv(env) });
  onTestFinished(() => latchkey.close());
  const { key, rootKeyId } = await latchkey.createRootKey({ permissions: ["*"] });
  const doctor = async (options: string, rings: Readonly<Record<string, string>> = {}) => {
    const { stdout } = await cli.run(`doctor${options}`, {
      env: { LATCHKEY_STORE: cli.url, ...rings },
    });
    return stdout.split("\n").filter((row) => /\t(?:wrong|mended)\t/.test(row));
  };
  return { store, latchkey, key: `${key}`, rootKeyId, doctor };
}

test("latchkey doctor finds a root key that the directory has lost, and repairs it with --fix", async () => {
  const { store, latchkey, key, rootKeyId, doctor } = await storeWithRootKey();
  const id = createHash("sha256").update(key).digest("base64url");
  const deletes = [{ kind: "rootKeyPointer", id }] as const;
  await store.commit(DIRECTORY_ID, { ...EMPTY_CHANGE, deletes });
  const another = () => createLatchkey({ store }).authenticateRootKey(key);
  expect(await another()).toEqual({ kind: "refused" });
  const found = `rootKey ${rootKeyId}: its hash leads nowhere`;
  expect(await doctor("")).toEqual([`names\twrong\t${found}; --fix mends it`]);
  expect(await doctor(" --fix")).toEqual([`names\tmended\t${found}`]);
  expect(await doctor("")).toEqual([]);
  expect(await another()).toMatchObject({ kind: "authenticated", rootKeyId });
  expect(await latchkey.authenticateRootKey(key)).toMatchObject({ kind: "authenticated" });
});

test("latchkey doctor reports root keys whose pepper is missing", async () => {
  const ring = (id: string, byte: number) => {
    const bytes = Uint8Array.from({ length: 32 }, (_, index) => byte + index);
    return { LATCHKEY_PEPPER: `${id}:${Buffer.from(bytes).toString("base64")}` };
  };
  const { doctor } = await storeWithRootKey(ring("p1", 1));
  expect(await doctor("", ring("p1", 1))).toEqual([]);
  expect(await doctor("", ring("p2", 2))).toEqual([
    "pepper\twrong\t1 root key: the pepper p1 of LATCHKEY_PEPPER is missing, so they authorise nothing",
  ]);
});
