import { expect, test } from "vitest";
import { digest, foreign, hex, openApi, pepperOf } from "../imports.js";
import { describeOnMemory, NOON, VAULT_KEYS } from "../test-context.js";

describeOnMemory("listKeys for an export", (open) => {
  test("shows the hash, whether it was disabled and its own permissions, which no other call shows", async () => {
    const context = open({ vault: { current: "v", keys: { v: VAULT_KEYS[1] } } });
    const { latchkey } = context;
    const apiId = await openApi(context);
    await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createPermission({ name: "tides.write" });
    await latchkey.createRole({ name: "harbour", permissions: ["tides.write"] });
    await latchkey.createKeys([
      {
        apiId,
        hash: hex(foreign(1)),
        roles: ["harbour"],
        permissions: ["tides.read"],
        expires: NOON - 1,
      },
    ]);
    context.advance(1);
    const peppered = context.another({ pepper: pepperOf("p1") });
    await peppered.createKeys([
      { apiId, plaintext: foreign(2), recoverable: true, enabled: false },
    ]);
    const { keys } = await latchkey.listKeys({ apiId }, { forExport: true });
    expect(
      keys.map(({ enabled, permissions, stored }) => ({ enabled, permissions, stored })),
    ).toEqual([
      {
        enabled: false,
        permissions: ["tides.read", "tides.write"],
        stored: {
          hash: digest(foreign(1)).toString("base64url"),
          enabled: true,
          permissions: ["tides.read"],
          recoverable: false,
        },
      },
      {
        enabled: false,
        permissions: [],
        stored: {
          hash: expect.stringMatching(/^p1\.[\w-]{43}$/),
          enabled: false,
          permissions: [],
          recoverable: true,
        },
      },
    ]);
    const listed = await latchkey.listKeys({ apiId });
    expect(listed.keys.map((key) => "stored" in key)).toEqual([false, false]);
  });
});
