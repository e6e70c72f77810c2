import { OPERATIONS as CORE_OPERATIONS } from "@latchkey/core";
import { expect, test } from "vitest";
import { createFixture } from "../testing/fixture.js";
import { openService } from "../testing/open-service.js";
import { OPERATIONS } from "./table.js";

const WITHOUT_EFFECT = [
  ["identities.createIdentity", { environment: "live" }, { environment: 1 }],
  ["identities.listIdentities", { environment: "live" }, null],
  ["identities.updateIdentity", { environment: "live" }, { environment: 1 }],
  ["apis.listKeys", { revalidateKeysCache: true }, { revalidateKeysCache: "maybe" }],
  ["keys.deleteKey", { permanent: true }, { permanent: "true" }],
  ["ratelimits.limit", { async: true, meta: { a: 1 }, resources: [{}] }, { resources: {} }],
] as const;

test.each(WITHOUT_EFFECT)(
  "%s takes %j, checks it, and core never hears of it",
  async (name, fields, wrong) => {
    const operation = OPERATIONS.find((one) => one.name === name);
    const input = operation?.example.input as object;
    const inCore = operation?.operation && CORE_OPERATIONS[operation.operation].input;
    expect(inCore?.safeParse(input).success).toBe(true);
    for (const [field, value] of Object.entries(fields))
      expect(inCore?.safeParse({ ...input, [field]: value }).success).toBe(false);
    const service = await openService();
    const { apiId, keyId, identityId } = await createFixture(service);
    const own = {
      ...input,
      ...("apiId" in input && { apiId }),
      ...("keyId" in input && { keyId }),
      ...("identityId" in input && { identityId }),
      ...(name === "identities.createIdentity" && { externalId: "another" }),
      ...(name === "identities.updateIdentity" && { externalId: undefined, identityId }),
    };
    if (wrong !== null) expect((await service.call(name, { ...own, ...wrong })).status).toBe(400);
    expect((await service.call(name, { ...own, ...fields })).status).toBe(200);
  },
);
