import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { openStore } from "../open-store.js";
import { runInProcess } from "../testing/run-in-process.js";
import { tempFolder } from "../testing/temp-folder.js";

/** A workspace of some keys, on a machine on which each look at the timer takes seconds. */
async function slowWorkspace(keys: number) {
  const store = `sqlite:${join(tempFolder(), "keys.db")}`;
  const latchkey = createLatchkey({ store: openStore(store) });
  const { workspaceId } = await latchkey.createWorkspace();
  const tenant = latchkey.workspace(workspaceId);
  const { apiId } = await tenant.createApi({ name: "tides" });
  for (let left = keys; left > 0; left -= 100)
    await Promise.all(
      Array.from({ length: Math.min(left, 100) }, () =>
        tenant.createKey({ apiId, externalId: "acct_1" }),
      ),
    );
  await latchkey.close();
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    now += 3_000;
    return now;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return { store, workspaceId };
}

test("an export says how many keys it has written so far", async () => {
  const { store, workspaceId } = await slowWorkspace(201);
  const args = ["export", "--format", "jsonl", "--store", store, "--workspace", workspaceId];
  const { stdout, stderr } = await runInProcess(args);
  expect(stdout.trim().split("\n")).toHaveLength(201);
  expect(stderr.split("\n").slice(0, 2)).toEqual([
    "latchkey: 200 keys so far",
    "latchkey: 201 keys so far",
  ]);
});

test("the deletion of a workspace says how many steps it has done so far", async () => {
  const { store, workspaceId } = await slowWorkspace(300);
  const args = ["workspace", "delete", workspaceId, "--confirm", workspaceId, "--store", store];
  const { stdout, stderr } = await runInProcess(args);
  expect(stdout).toBe(`workspace ${workspaceId} is deleted\n`);
  expect(stderr).toMatch(/^latchkey: 1 step so far\nlatchkey: 2 steps so far\n/);
});

test("the deletion of the keys of an owner says how many it has found, before it asks", async () => {
  const { store, workspaceId } = await slowWorkspace(201);
  const at = ["--store", store, "--workspace", workspaceId, "--yes"];
  const { stdout, stderr } = await runInProcess([
    "keys",
    "delete",
    "--external-id",
    "acct_1",
    ...at,
  ]);
  expect(stdout).toBe("201 keys are deleted\n");
  expect(stderr).toMatch(/^latchkey: 200 keys found so far\n/);
});

test.each(["leases", "keys find --name-contains tide"])(
  "%s says how many records it has looked at so far",
  async (command) => {
    const { store, workspaceId } = await slowWorkspace(2_001);
    const args = [...command.split(" "), "--store", store, "--workspace", workspaceId];
    const { exitCode, stdout, stderr } = await runInProcess(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).toMatch(/^latchkey: looked at \d+ records so far\n/);
  },
);
