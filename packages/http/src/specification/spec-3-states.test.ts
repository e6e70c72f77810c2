import { beforeEach, describe, expect, test } from "vitest";
import { openService, START, type TestService } from "../testing/open-service.js";

let service: TestService;
let apiId: string;

beforeEach(async () => {
  service = await openService();
  ({ apiId } = await service.ok("apis.createApi", { name: "payments" }));
});

const create = (fields: object = {}) => service.ok("keys.createKey", { apiId, ...fields });
const isEnabled = async (keyId: string) => (await service.ok("keys.getKey", { keyId })).enabled;
const verdict = async (key: string) => (await service.ok("keys.verifyKey", { key })).code;

describe("spec 3: states of a key", () => {
  test("spec 3 created enabled: with enabled omitted or true the key is enabled and returned once", async () => {
    for (const fields of [{}, { enabled: true }]) {
      const { keyId, key } = await create(fields);
      expect(await isEnabled(keyId)).toBe(true);
      expect(await verdict(key)).toBe("VALID");
      const shown = await service.call("keys.getKey", { keyId });
      expect(shown.text).not.toContain(key);
    }
  });

  test("spec 3 created disabled: with enabled false the key is disabled and returned once", async () => {
    const { keyId, key } = await create({ enabled: false });
    expect(await isEnabled(keyId)).toBe(false);
    expect(await verdict(key)).toBe("DISABLED");
  });

  test("spec 3 expiry: at its expiry an enabled key becomes disabled by itself", async () => {
    const { keyId, key } = await create({ expires: START + 1_000 });
    service.advance(999);
    expect([await isEnabled(keyId), await verdict(key)]).toEqual([true, "VALID"]);
    service.advance(1);
    expect([await isEnabled(keyId), await verdict(key)]).toEqual([false, "EXPIRED"]);
    service.advance(1);
    expect([await isEnabled(keyId), await verdict(key)]).toEqual([false, "EXPIRED"]);
  });

  test("spec 3 exhaustion: when remaining reaches 0 an enabled key becomes disabled by itself", async () => {
    const { keyId, key } = await create({ remaining: 2 });
    expect([await verdict(key), await isEnabled(keyId)]).toEqual(["VALID", true]);
    expect([await verdict(key), await isEnabled(keyId)]).toEqual(["VALID", false]);
    expect(await verdict(key)).toBe("USAGE_EXCEEDED");
  });

  test("spec 3 enabling: a key disabled by expiry or exhaustion is enabled again by an update", async () => {
    const expired = await create({ expires: START + 1_000 });
    const exhausted = await create({ remaining: 1 });
    await verdict(exhausted.key);
    service.advance(1_000);
    await service.ok("keys.updateKey", { keyId: expired.keyId, enabled: true });
    expect([await isEnabled(expired.keyId), await verdict(expired.key)]).toEqual([true, "VALID"]);

    const alone = await service.call("keys.updateKey", { keyId: exhausted.keyId, enabled: true });
    expect([alone.status, alone.body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
    await service.ok("keys.updateRemaining", { keyId: exhausted.keyId, op: "set", value: 1 });
    expect([await isEnabled(exhausted.keyId), await verdict(exhausted.key)]).toEqual([
      true,
      "VALID",
    ]);
  });
});
