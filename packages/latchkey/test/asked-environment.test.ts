import { expect, test } from "vitest";
import { describeOnMemoryOrAll } from "./every-store.js";
import { describeOnMemory, issue, rejectionOf } from "./test-context.js";

describeOnMemoryOrAll("the environment that is asked for", (open) => {
  test("must be that of the key, otherwise FORBIDDEN; a key without an environment has none", async () => {
    const context = open();
    const { latchkey } = context;
    const live = await issue(context, { environment: "live", remaining: 1 });
    const none = await latchkey.createKey({ apiId: live.apiId });
    const other = context.another();
    const codeOf = async (key: string, environment?: string) =>
      (await other.verifyKey({ key, environment })).code;
    expect(await codeOf(live.key, "test")).toBe("FORBIDDEN");
    expect(await codeOf(live.key, "")).toBe("FORBIDDEN");
    expect(await codeOf(none.key, "live")).toBe("FORBIDDEN");
    expect(await codeOf(none.key, "")).toBe("FORBIDDEN");
    expect(await codeOf(none.key)).toBe("VALID");
    const verify = other.verifier({ environment: "test" });
    expect(await verify(live.key)).toMatchObject({ code: "FORBIDDEN", remaining: 1 });
    await latchkey.updateKey({ keyId: live.keyId, environment: "test" });
    expect(await verify(live.key)).toMatchObject({ code: "VALID", remaining: 0 });
  });
});

describeOnMemory("the environment that is asked for", (open) => {
  test("is in the checks of a dry run only if the request names one", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId, key } = await issue(context, { environment: "test" });
    const asked = await latchkey.explainKey({ keyId, environment: "live" });
    const check = { check: "environment", passed: false, environment: "test", wanted: "live" };
    expect(asked).toMatchObject({ code: "FORBIDDEN" });
    expect(asked.checks).toContainEqual(check);
    const plain = await latchkey.verifyKey({ key, dryRun: true });
    expect(plain.checks.map(({ check: name }) => name)).not.toContain("environment");
  });

  test("belongs to the question that a requestId repeats", async () => {
    const context = open();
    const { latchkey } = context;
    const { key } = await issue(context, { environment: "live" });
    await latchkey.verifyKey({ key, requestId: "r1" });
    const again = latchkey.verifyKey({ key, environment: "live", requestId: "r1" });
    expect((await rejectionOf(again)).code).toBe("CONFLICT");
  });

  test("is a text of at most 256 characters, and never undefined for a verifier", async () => {
    const { latchkey } = open();
    for (const environment of [1, null, "x".repeat(257), "\0"] as never[]) {
      const refused = await rejectionOf(latchkey.verifyKey({ key: "x", environment }));
      expect(refused.issues).toMatchObject([{ path: "environment" }]);
      expect(() => latchkey.verifier({ environment })).toThrow("environment");
    }
    expect(() => latchkey.verifier({ environment: undefined })).toThrow(TypeError);
  });
});
