import { API_ACTIONS } from "@latchkey/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createFixture, type Fixture } from "../testing/fixture.js";
import { openService, type TestService } from "../testing/open-service.js";
import { SAMPLES } from "../testing/samples.js";
import { V2_SAMPLES } from "../testing/v2-samples.js";

/** Every way to call an operation, except deleting the API: after that, nothing more could happen. */
const CALLS = [
  ...SAMPLES.map((sample) => ({ ...sample, version: "v1" as const })),
  ...V2_SAMPLES.map((sample) => ({ ...sample, version: "v2" as const })),
].filter(({ name }) => name !== "apis.deleteApi");

/** What the two APIs do not share. Their keys have the same identity. */
const FIELDS = [
  ...(["apiId", "keyId", "key", "roleId", "permissionId"] as const),
  ...(["permission", "rootKeyId", "reservationId"] as const),
];

/** Everything of an API, and everything that belongs to the whole workspace. */
async function stateOf({ latchkey }: TestService, { apiId, keyId }: Fixture) {
  return {
    api: await latchkey.getApi({ apiId }),
    key: await latchkey.getKey({ keyId, decrypt: true }),
    keys: await latchkey.listKeys({ apiId }),
    explained: await latchkey.explainKey({ keyId }),
    reservations: await latchkey.listReservations({ keyId }),
    changes: await latchkey.listAuditEvents({ keyId }),
    counts: await latchkey.getVerifications({ keyId }),
    identities: await latchkey.listIdentities({}),
    roles: await latchkey.listRoles(),
    permissions: await latchkey.listPermissions(),
    rootKeys: await latchkey.listRootKeys(),
  };
}

const attempt = fc.record({
  call: fc.constantFrom(...CALLS),
  /** Of an input of the same operation, whose fields are added. */
  further: fc.nat(),
  theirFields: fc.subarray(FIELDS),
});

const RUNS = 8 * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1");

test("a root key with every action on one API changes nothing of another, and learns nothing of it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(attempt, { minLength: 20, maxLength: 60 }), async (attempts) => {
      const service = await openService();
      const mine = await createFixture(service);
      const theirs = await createFixture(service);
      const token = await service.rootKey(
        ...API_ACTIONS.map((action) => `api.${mine.apiId}.${action}`),
      );
      // Reading counts writes those of the fixture.
      await service.latchkey.getVerifications({ keyId: theirs.keyId });
      const before = await stateOf(service, theirs);
      for (const { call, further, theirFields } of attempts) {
        const { name, version } = call;
        const alike = CALLS.filter((one) => one.name === name && one.version === version);
        const named: Fixture = {
          ...mine,
          ...Object.fromEntries(theirFields.map((field) => [field, theirs[field]])),
        };
        const input = { ...call.input(named), ...alike[further % alike.length]?.input(named) };
        const sent = JSON.stringify(input);
        const { status, text } = await service.call(name, input, { token, version });
        const what = `${version} ${name} ${sent}: ${status} ${text}`;
        for (const field of FIELDS)
          if (!sent.includes(theirs[field])) expect(text, what).not.toContain(theirs[field]);
        if (status === 200) expect(await stateOf(service, theirs), what).toEqual(before);
      }
    }),
    { numRuns: RUNS },
  );
});
