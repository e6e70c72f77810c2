import { expect, test } from "vitest";
import { describeOnMemory, NOON, rejectionOf } from "../test-context.js";

/** Names every resource that a root key can be allowed something on. */
const PERMISSION_FORM =
  'must be "*" or <api|identity|rbac|ratelimit|audit|events>.<id or *>.<action> with a known action';

describeOnMemory("root keys", (open) => {
  test("speak for their workspace with the permissions they were given", async () => {
    const { latchkey } = open();
    const permissions = ["api.*.create_key", "identity.*.read_identity"];
    const { key, rootKeyId } = await latchkey
      .workspace("ws_pier")
      .createRootKey({ permissions, name: "deploys" });
    expect(await latchkey.authenticateRootKey(key)).toEqual({
      kind: "authenticated",
      rootKeyId,
      workspaceId: "ws_pier",
      permissions,
    });
  });

  test("are dead at the instant they expire", async () => {
    const context = open();
    const { key } = await context.latchkey.createRootKey({ permissions: ["*"], expires: NOON + 5 });
    context.setClock(NOON + 4);
    expect(await context.latchkey.authenticateRootKey(key)).toMatchObject({
      kind: "authenticated",
    });
    context.setClock(NOON + 5);
    expect(await context.latchkey.authenticateRootKey(key)).toEqual({ kind: "refused" });
  });

  test("authorise nothing while their workspace is disabled", async () => {
    const { latchkey } = open();
    const { key } = await latchkey.createRootKey({ permissions: ["*"] });
    await latchkey.setWorkspaceEnabled(false);
    expect(await latchkey.authenticateRootKey(key)).toEqual({ kind: "workspace-disabled" });
    await latchkey.setWorkspaceEnabled(true);
    expect(await latchkey.authenticateRootKey(key)).toMatchObject({ kind: "authenticated" });
  });

  test("are no keys of an API, and keys of an API are no root keys", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createPermission({ name: "*" });
    const { key } = await latchkey.createKey({ apiId, permissions: ["*"] });
    const { key: rootKey } = await latchkey.createRootKey({ permissions: ["*"] });
    expect(await latchkey.authenticateRootKey(key)).toEqual({ kind: "refused" });
    expect(await latchkey.verifyKey({ key: rootKey })).toEqual({ valid: false, code: "NOT_FOUND" });
  });

  test.each([undefined, null, [], {}, 7, Symbol("token")])("are not %s", async (token) => {
    const { latchkey } = open();
    expect(await latchkey.authenticateRootKey(token as never)).toEqual({ kind: "refused" });
  });

  test("need at least one permission, and only known ones", async () => {
    const { latchkey } = open();
    expect(await rejectionOf(latchkey.createRootKey({ permissions: [] }))).toMatchObject({
      code: "BAD_REQUEST",
    });
    const error = await rejectionOf(
      latchkey.createRootKey({
        permissions: ["api.*.create_key", "api.*.fly", "rbac.x_1.create_role"],
        expires: NOON,
      }),
    );
    expect(error.issues).toEqual([
      { path: "permissions.1", message: PERMISSION_FORM },
      { path: "permissions.2", message: PERMISSION_FORM },
      { path: "expires", message: "must be later than now" },
    ]);
  });
});

describeOnMemory("workspaces", (open) => {
  test.each(["false", 0, 1, undefined, null, {}])("are not switched by %j", async (enabled) => {
    const { latchkey } = open();
    const error = await rejectionOf(latchkey.setWorkspaceEnabled(enabled as never));
    expect(error).toMatchObject({ code: "BAD_REQUEST" });
    expect(await latchkey.isWorkspaceEnabled()).toBe(true);
  });

  test("are invisible to each other", async () => {
    const { latchkey } = open();
    const other = latchkey.workspace("ws_other");
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId });
    const foreign = [
      other.getApi({ apiId }),
      other.getKey({ keyId }),
      other.listKeys({ apiId }),
      other.updateKey({ keyId, name: "taken over" }),
      other.updateRemaining({ keyId, op: "set", value: 1 }),
      other.deleteKey({ keyId }),
    ];
    for (const error of await Promise.all(foreign.map(rejectionOf)))
      expect(error).toMatchObject({ code: "NOT_FOUND" });
    await latchkey.createRole({ name: "pilot" });
    await other.createRole({ name: "pilot" });
    expect(await rejectionOf(latchkey.createRole({ name: "pilot" }))).toMatchObject({
      code: "CONFLICT",
    });
  });
});
