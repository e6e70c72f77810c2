import type { Latchkey } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { createFixture, type Fixture } from "../testing/fixture.js";
import { openService, type Reply, type TestService } from "../testing/open-service.js";
import { SAMPLES, type Sample } from "../testing/samples.js";
import { V2_SAMPLES } from "../testing/v2-samples.js";

/** The ids of a fixture: they exist only in one workspace. */
const KINDS = [
  "apiId",
  "keyId",
  "key",
  "identityId",
  "roleId",
  "permissionId",
  "rootKeyId",
  "reservationId",
] as const;

type Kind = (typeof KINDS)[number];

const NEVER: Readonly<Record<Kind, string>> = {
  apiId: "api_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  keyId: "key_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  key: "pay_neverExisted",
  identityId: "id_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  roleId: "role_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  rootKeyId: "root_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  permissionId: "perm_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  reservationId: "rsv_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
};

interface World {
  readonly service: TestService;
  /** A root key that may do everything in its own workspace. */
  readonly token: string;
  readonly own: Fixture;
  readonly fates: Readonly<Record<string, Readonly<Record<Kind, string>>>>;
}

async function openWorld(): Promise<World> {
  const service = await openService();
  const mine = service.latchkey.workspace("ws_mine");
  const theirs = service.latchkey;
  const { key: token } = await mine.createRootKey({ permissions: ["*"] });
  const elsewhere = await createFixture({ latchkey: theirs });
  const gone = await createFixture({ latchkey: theirs.workspace("ws_gone") });
  const here = await createFixture({ latchkey: mine });
  await remove(theirs.workspace("ws_gone"), gone);
  await remove(mine, here);
  const own = await createFixture({ latchkey: mine });
  const fates = {
    "exists elsewhere": elsewhere,
    "was deleted elsewhere": gone,
    "was deleted here": here,
  };
  return { service, token, own, fates };
}

async function remove(latchkey: Latchkey, fixture: Fixture): Promise<void> {
  await latchkey.deleteKey({ keyId: fixture.keyId });
  await latchkey.deleteApi({ apiId: fixture.apiId });
  await latchkey.deleteIdentity({ identityId: fixture.identityId });
  await latchkey.deleteRole({ roleId: fixture.roleId });
  await latchkey.deletePermission({ permissionId: fixture.permissionId });
  await latchkey.revokeRootKey({ rootKeyId: fixture.rootKeyId });
}

/** The kinds of ids that a sample names. */
function kindsIn({ input }: Sample): Kind[] {
  const read = new Set<string>();
  const noting = new Proxy({ ...NEVER } as unknown as Fixture, {
    get(target, name) {
      read.add(String(name));
      return Reflect.get(target, name) ?? "text";
    },
  });
  input(noting);
  return KINDS.filter((kind) => read.has(kind));
}

/** Everything that a caller is sent, byte by byte, except the id of the request. */
function sent({ status, headers, text }: Reply): string {
  const fields = [...headers].filter(([name]) => name !== "x-request-id");
  return JSON.stringify({ status, fields, text: text.replace(/req_[A-Za-z0-9]+/g, "req") });
}

const CASES = (
  [
    ["v1", SAMPLES],
    ["v2", V2_SAMPLES],
  ] as const
).flatMap(([version, samples]) =>
  samples.flatMap((sample) =>
    kindsIn(sample).map((kind) => ({ version, title: sample.title, sample, kind })),
  ),
);

/** The response to a call that names an unknown id. In operations on many keys, ids are a filter, and unknown ones are ignored. */
function answerToNothing({ sample: { name }, kind }: (typeof CASES)[number]): RegExp {
  if (name === "keys.introspect") return /"text":"\{\\"active\\":false\}"/;
  if (["keys.verifyKey", "keys.exchangeKey", "keys.reserve"].includes(name))
    return /^\{"status":200,.*(?:NOT_FOUND|FORBIDDEN)/;
  const isFilter = /^apis\.(?:delete|disable|enable)Keys$/.test(name) && kind !== "apiId";
  return isFilter ? /^\{"status":200,.*Keys\\":0\}/ : /^\{"status":4/;
}

/** One world for all attempts: they all call the same service. */
const shared = openWorld();

test("most operations name a resource by its id, in both versions", () => {
  const named = new Set(CASES.map(({ version, sample }) => `${version} ${sample.name}`));
  expect(named.size).toBeGreaterThan(50);
});

describe("an id that this workspace does not have", () => {
  test.each(CASES)("$version $title: says nothing by its $kind of what it is", async (one) => {
    const { service, token, own, fates } = await shared;
    const attempt = async (given: string) => {
      const input = one.sample.input({ ...own, [one.kind]: given });
      const reply = await service.call(one.sample.name, input, { token, version: one.version });
      return sent(reply).replaceAll(given, "<given>");
    };
    const never = await attempt(NEVER[one.kind]);
    // An identity that the workspace itself has deleted can still be erased.
    for (const [fate, named] of Object.entries(fates))
      if (fate !== "was deleted here" || one.sample.name !== "identities.eraseIdentity")
        expect([fate, await attempt(named[one.kind])]).toEqual([fate, never]);
    expect(never).toMatch(answerToNothing(one));
  });
});
