import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../../src/testing/pages.js";
import { WITH_VAULT } from "../change-cases/fixture.js";
import { describeOnMemory, type TestContext, VAULT_KEYS } from "../test-context.js";

const SOURCES = join(REPOSITORY, "packages/core/src/operations");

/** The example of every operation and every loop, by name. */
const EXAMPLES = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
  .flatMap((path) => {
    const text = readFileSync(join(SOURCES, path), "utf8");
    const examples = text.matchAll(/@example\n((?: {3}\* .*\n)+) {3}\*\/\n {2}(\w+)\(/g);
    return [...examples].map(([, lines = "", name = ""]) => ({
      name,
      code: lines.replace(/^ {3}\* /gm, ""),
    }));
  });

/** Creates the records that the examples use. */
async function prepared({ latchkey }: TestContext) {
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const { permissionId } = await latchkey.createPermission({ name: "docs.read" });
  const { roleId } = await latchkey.createRole({ name: "editor" });
  const { rootKeyId } = await latchkey.createRootKey({ permissions: ["api.*.read_api"] });
  const created = await latchkey.createKey({
    apiId,
    externalId: "user_1",
    permissions: ["docs.read"],
    remaining: 10,
    recoverable: true,
  });
  const { id: identityId } = await latchkey.getIdentity({ externalId: "user_1" });
  const { key } = created;
  // One example settles at 812.
  await latchkey.updateRemaining({ keyId: created.keyId, op: "set", value: 5_000 });
  const held = await latchkey.reserve({ key, remaining: { cost: 1_000 } });
  const { reservationId } = held as Extract<typeof held, { readonly code: "VALID" }>;
  const { workspaceId } = await latchkey.createWorkspace();
  const { secret } = await latchkey.createPortalSession({
    externalId: "user_1",
    allow: { apiIds: [apiId] },
  });
  const ids = { workspaceId, apiId, permissionId, roleId, rootKeyId, identityId, reservationId };
  return { latchkey, secret, ...ids, ...created };
}

const WITH_KEYS = { ...WITH_VAULT, tokens: { current: "t", keys: { t: VAULT_KEYS[1] } } };

/** Runs statements with these names in scope. */
function run(code: string, names: Readonly<Record<string, unknown>>): Promise<unknown> {
  const values = Object.values(names);
  // In its own block, which may declare the same names.
  const program = new Function(...Object.keys(names), `return (async () => {{ ${code} }})();`);
  return Reflect.apply(program, undefined, values) as Promise<unknown>;
}

describeOnMemory("the example in the docstring of", (open) => {
  test("every operation and every loop has one", () => {
    const { latchkey } = open();
    const others = [
      "workspaceId",
      "now",
      "workspace",
      "actingAs",
      "verifier",
      "jwks",
      "endLeases",
      "close",
    ];
    const names = Object.keys(latchkey).filter((name) => !others.includes(name));
    expect([...new Set(EXAMPLES.map(({ name }) => name))].sort()).toEqual(names.sort());
  });

  describe.each(EXAMPLES)("$name", ({ name, code }) => {
    test("calls that operation, and runs", async () => {
      const names = { ...(await prepared(open(WITH_KEYS))), console: { log: () => undefined } };
      expect(code).toContain(`latchkey.${name}(`);
      await expect(run(code, names)).resolves.not.toThrow();
    });
  });
});
