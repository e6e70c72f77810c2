import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { runCli } from "../testing/run-cli.js";
import { tempFolder } from "../testing/temp-folder.js";

test("latchkey root-key prints the root key and nothing else", async () => {
  const store = `sqlite:${join(tempFolder(), "keys.db")}`;
  const permissions = "api.*.read_api,api.*.read_key";
  const { stdout: created } = await runCli(["workspace", "create", "--store", store]);
  const workspaceId = created.trim();
  const args = ["root-key", "create", "--store", store, "--permissions", permissions];
  const { exitCode, stdout, stderr } = await runCli([...args, "--workspace", workspaceId]);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^lk_root_[1-9A-HJ-NP-Za-km-z]+\n$/);
  expect(exitCode).toBe(0);
  const latchkey = createLatchkey({ store: openStore(store) });
  expect(await latchkey.authenticateRootKey(stdout.trim())).toMatchObject({
    kind: "authenticated",
    workspaceId,
    permissions: ["api.*.read_api", "api.*.read_key"],
  });
  await latchkey.close();
});
