import { expect, test } from "vitest";
import { describeOnMemoryOrAll } from "./every-store.js";
import { describeOnMemory, issue, rejectionOf } from "./test-context.js";

describeOnMemoryOrAll("the allow-list of a key", (open) => {
  test("and that of its API must both contain the address, from the next verification on", async () => {
    const context = open();
    const { latchkey } = context;
    const other = context.another();
    const { apiId, keyId, key } = await issue(context, { ipWhitelist: ["192.0.2.0/25"] });
    const codeFrom = async (ipAddress?: string) => (await other.verifyKey({ key, ipAddress })).code;
    expect(await codeFrom("192.0.2.7")).toBe("VALID");
    expect(await codeFrom("192.0.2.200")).toBe("FORBIDDEN");
    expect(await codeFrom()).toBe("FORBIDDEN");
    await latchkey.updateApi({ apiId, ipWhitelist: ["192.0.2.64/26"] });
    expect(await codeFrom("192.0.2.7")).toBe("FORBIDDEN");
    expect(await codeFrom("192.0.2.65")).toBe("VALID");
    await latchkey.updateKey({ keyId, ipWhitelist: null });
    expect(await codeFrom("192.0.2.100")).toBe("VALID");
    expect(await codeFrom("192.0.2.7")).toBe("FORBIDDEN");
    await latchkey.updateKey({ keyId, ipWhitelist: ["2001:DB8::/32", "192.0.2.65"] });
    const shown = { ipWhitelist: ["2001:db8::/32", "192.0.2.65"] };
    expect(await latchkey.getKey({ keyId })).toMatchObject(shown);
    const successor = await latchkey.rotateKey({ keyId });
    expect(await latchkey.getKey({ keyId: successor.keyId })).toMatchObject(shown);
    const { checks } = await other.verifyKey({ key: successor.key, dryRun: true });
    expect(checks).toContainEqual({ check: "address", passed: false });
  });
});

describeOnMemory("the allow-list of a key", (open) => {
  test("is parsed as strictly as that of an API, and errors name the wrong entry", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, keyId } = await issue(context);
    const wrong = ["192.0.2.1", "10.0.0.1/40"];
    for (const call of [
      latchkey.createKey({ apiId, ipWhitelist: wrong }),
      latchkey.updateKey({ keyId, ipWhitelist: wrong }),
    ])
      expect((await rejectionOf(call)).issues).toMatchObject([{ path: "ipWhitelist.1" }]);
    const most = Array.from({ length: 1_001 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    await latchkey.updateKey({ keyId, ipWhitelist: most.slice(1) });
    const refused = await rejectionOf(latchkey.updateKey({ keyId, ipWhitelist: most }));
    expect(refused.issues).toMatchObject([{ path: "ipWhitelist" }]);
  });

  test("is in the audit log, and survives an import", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await issue(context);
    const plaintext = "old_3f9c2a7d51e84b06";
    const ipWhitelist = ["192.0.2.0/24"];
    const { keyIds } = await latchkey.createKeys([{ apiId, plaintext, ipWhitelist }]);
    expect(await latchkey.verifyKey({ key: plaintext })).toMatchObject({ code: "FORBIDDEN" });
    const { events } = await latchkey.listAuditEvents({ keyId: keyIds[0] });
    expect(events[0]?.changes).toContainEqual({ field: "ipWhitelist", after: ipWhitelist });
  });
});
