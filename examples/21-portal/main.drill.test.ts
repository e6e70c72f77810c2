import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("in example 21-portal a customer creates a key, uses it and revokes it", async () => {
  const smoke = fileURLToPath(new URL("smoke.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [smoke]);
  expect(stdout).toContain("created a key, used it and revoked it");
});
