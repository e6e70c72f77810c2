import {
  API_ACTIONS,
  AUDIT_ACTIONS,
  EVENT_ACTIONS,
  IDENTITY_ACTIONS,
  RATELIMIT_ACTIONS,
  RBAC_ACTIONS,
  ROOT_KEY_ACTIONS,
  USAGE_ACTIONS,
} from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { BY_HEADER } from "../testing/by-header.js";
import { createFixture } from "../testing/fixture.js";
import { openService } from "../testing/open-service.js";
import { callAs, GUARDED, narrowed, widened } from "../testing/sample-calls.js";
import { SAMPLES } from "../testing/samples.js";

const EVERYTHING = [
  ...API_ACTIONS.map((action) => `api.*.${action}`),
  ...IDENTITY_ACTIONS.map((action) => `identity.*.${action}`),
  ...RBAC_ACTIONS.map((action) => `rbac.*.${action}`),
  ...AUDIT_ACTIONS.map((action) => `audit.*.${action}`),
  ...EVENT_ACTIONS.map((action) => `events.*.${action}`),
  ...ROOT_KEY_ACTIONS.map((action) => `root.*.${action}`),
  ...USAGE_ACTIONS.map((action) => `usage.*.${action}`),
  ...RATELIMIT_ACTIONS.map((action) => `ratelimit.*.${action}`),
];

async function open() {
  const service = await openService(BY_HEADER);
  await service.latchkey.createRole({ name: "reader" });
  return { service, fixture: await createFixture(service) };
}

/** For refused calls, which change nothing. */
let unchanged: ReturnType<typeof open> | undefined;
function openUnchanged() {
  unchanged ??= open();
  return unchanged;
}

test("every operation that is not public has its row in the matrix", () => {
  expect([...new Set(SAMPLES.map(({ name }) => name))].sort()).toEqual([...GUARDED].sort());
});

describe.each(SAMPLES)("$title", (sample) => {
  test("exactly its permissions for all resources are enough, and so is *", async () => {
    for (const permissions of [widened(sample), ["*"]]) {
      const { service, fixture } = await open();
      expect((await callAs(service, sample, fixture, permissions)).status).toBe(200);
    }
  });

  test("its permissions for this resource are enough, unless it concerns all of them", async () => {
    const { service, fixture } = await open();
    const { status, body } = await callAs(service, sample, fixture, narrowed(sample, fixture));
    expect(status).toBe(sample.isForAllOnly ? 403 : 200);
    if (sample.isForAllOnly) expect(body.error.code).toBe("INSUFFICIENT_PERMISSIONS");
  });

  test("everything else without any one of them is refused, in words that name all of them and nothing held", async () => {
    const { service, fixture } = await openUnchanged();
    const messages = new Set<string>();
    for (const missing of widened(sample)) {
      const held = EVERYTHING.filter((permission) => permission !== missing);
      const { status, body } = await callAs(service, sample, fixture, held);
      expect([status, body.error.code]).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
      messages.add(body.error.message);
    }
    const { body } = await callAs(service, sample, fixture, []);
    messages.add(body.error.message);
    expect(messages.size).toBe(1);
    const [message = ""] = messages;
    for (const permission of EVERYTHING) {
      expect(message.includes(permission)).toBe(widened(sample).includes(permission));
    }
  });

  test("nothing, near-misses and permissions for another resource are refused", async () => {
    const { service, fixture } = await openUnchanged();
    const others = { apiId: "api_other", identityId: "id_other", namespace: "mail" };
    const other = narrowed(sample, { ...fixture, ...others });
    const nearMisses = widened(sample).flatMap((permission) => [
      permission.toUpperCase(),
      `${permission} `,
      permission.slice(0, -1),
      permission.replace(".*.", "."),
      permission.replace(".*.", ".."),
      `${permission}.*`,
    ]);
    const hasNarrower =
      !sample.isForAllOnly && sample.requiredPermissions.some((need) => !isRbac(need));
    const held = hasNarrower ? [[], [""], nearMisses, other] : [[], [""], nearMisses];
    for (const permissions of [...held, ["api.*"], ["api.*.*"], ["*.*.*"], ["**"], ["* "]]) {
      const { status } = await callAs(service, sample, fixture, permissions);
      // A caller that may verify only keys of other APIs gets the verdict NOT_FOUND.
      const isVerdict =
        ["keys.verifyKey", "keys.introspect", "keys.exchangeKey", "keys.reserve"].includes(
          sample.title,
        ) && permissions === other;
      expect(status).toBe(isVerdict ? 200 : 403);
    }
  });
});

describe("permission comes before existence", () => {
  const naming = SAMPLES.filter(({ names }) => names !== undefined);
  const nobody = {
    apiId: "api_none",
    keyId: "key_none",
    key: "pay_none",
    identityId: "id_none",
    externalId: "none",
    roleId: "role_none",
    permissionId: "perm_none",
    rootKeyId: "root_none",
    reservationId: "rsv_none",
  };
  /** Samples for which there are narrower permissions than for all. */
  const narrowing = naming.filter(({ requiredPermissions }) =>
    requiredPermissions.some((need) => !isRbac(need)),
  );

  test.each(naming)(
    "$title: a caller with permission for all resources learns that one does not exist",
    async (sample) => {
      const { service, fixture } = await open();
      for (const permissions of [widened(sample), ["*"]]) {
        const reply = await callAs(service, sample, { ...fixture, ...nobody }, permissions);
        expect([reply.status, reply.body.error.code]).toEqual([404, "NOT_FOUND"]);
      }
    },
  );

  test.each(narrowing)(
    "$title: a caller with permission for some gets the same refusal whether another exists or not",
    async (sample) => {
      const { service, fixture } = await open();
      const other = await createFixture({ latchkey: service.latchkey }).catch(() => null);
      expect(other).not.toBeNull();
      const elsewhere = narrowed(sample, { ...fixture, apiId: "api_mine", identityId: "id_mine" });
      const existing = await callAs(service, sample, fixture, elsewhere);
      const missing = await callAs(service, sample, { ...fixture, ...nobody }, elsewhere);
      expect(existing.status).toBe(403);
      expect(anonymous(missing.text)).toBe(anonymous(existing.text));
    },
  );

  test("a token for one API gets 404 only for that API, when it names APIs by id", async () => {
    const { service, fixture } = await open();
    const [getApi] = SAMPLES.filter(({ title }) => title === "apis.getApi");
    const gone = { ...fixture, apiId: "api_gone" };
    const own = await callAs(service, getApi!, gone, ["api.api_gone.read_api"]);
    expect(own.status).toBe(404);
    expect((await callAs(service, getApi!, fixture, ["api.api_gone.read_api"])).status).toBe(403);
  });

  test("validation comes before permission: every authenticated caller learns about mistakes in the input", async () => {
    const { service } = await open();
    for (const { name } of SAMPLES) {
      const headers = { "x-permissions": "[]" };
      const { status } = await service.call(name, { surprise: 1 }, { token: null, headers });
      expect([name, status]).toEqual([name, 400]);
    }
  });
});

/** Whether a permission is for all roles and permissions or for the whole log: those have no narrower form. */
function isRbac(need: string): boolean {
  return ["rbac.", "audit.", "events.", "root.", "usage."].some((resource) =>
    need.startsWith(resource),
  );
}

/** A text without the parts that differ from request to request. */
function anonymous(text: string): string {
  return text.replace(/req_[A-Za-z0-9]+/g, "req");
}
