import {
  createLatchkey,
  type DefaultTypes,
  type JsonValue,
  type Latchkey,
  type LatchkeyOptions,
  type Metadata,
  type StandardSchema,
} from "@latchkey/core";
import { createHandler } from "@latchkey/http";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";

// Wrong calls in this file must not compile, which the type check of tests verifies. They are also executed, and refused.

interface Plan {
  readonly plan: "free" | "pro";
  readonly seats?: number | undefined;
}

const plans: StandardSchema<{ readonly plan: string; readonly seats?: number | undefined }, Plan> =
  {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => {
        const { plan } = value as Plan;
        return plan === "free" || plan === "pro"
          ? { value: value as Plan }
          : { issues: [{ message: "must be free or pro", path: ["plan"] }] };
      },
    },
  };

async function open() {
  const latchkey = createLatchkey({
    store: memoryStore(),
    permissions: ["docs.read", "docs.write", "team.members.add"],
    ratelimits: ["tiles"],
    meta: plans,
    identityMeta: plans,
  });
  onTestFinished(() => latchkey.close());
  const { apiId } = await latchkey.createApi({ name: "payments" });
  for (const name of ["docs.read", "docs.write", "docs.*"] as const)
    await latchkey.createPermission({ name });
  return { latchkey, apiId };
}

/** A call that must be refused at run time, too, or do nothing. */
async function refused(call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toThrow();
}

describe("names that the program knows", () => {
  test("compile as permissions, together with their wildcards, and no others do", async () => {
    const { latchkey, apiId } = await open();
    const { keyId } = await latchkey.createKey({ apiId, permissions: ["docs.read", "docs.*"] });
    // @ts-expect-error: misspelt
    await refused(latchkey.createKey({ apiId, permissions: ["docs.raed"] }));
    // @ts-expect-error: misspelt
    await refused(latchkey.createKeys([{ apiId, plaintext: "x", permissions: ["dosc.*"] }]));
    // @ts-expect-error: misspelt
    await refused(latchkey.updateKey({ keyId, permissions: ["docs.raed"] }));
    // @ts-expect-error: misspelt
    await refused(latchkey.addPermissions({ keyId, permissions: [{ name: "docs.raed" }] }));
    // @ts-expect-error: misspelt
    await refused(latchkey.setPermissions({ keyId, permissions: ["docs.raed"] }));
    // @ts-expect-error: misspelt
    await refused(latchkey.removePermissions({ keyId, permissions: ["docs.raed"] }));
    // @ts-expect-error: misspelt
    await latchkey.createPermission({ name: "docs.raed" });
    // @ts-expect-error: misspelt
    await refused(latchkey.createRole({ name: "reader", permissions: ["docs.raad"] }));
    const { roleId } = await latchkey.createRole({ name: "reader", permissions: ["docs.read"] });
    // @ts-expect-error: misspelt
    await refused(latchkey.setRolePermissions({ roleId, permissions: ["docs.raad"] }));
    await latchkey
      .setPermissions({ keyId, permissions: [{ name: "docs.write" }, { id: "x" }] })
      .catch(() => undefined);
    await latchkey.createPermission({ name: "team.members.*" });
    await latchkey.createPermission({ name: "team.*" });
    await latchkey.createPermission({ name: "*" });
  });

  test("compile in every form of a question, and no others do", async () => {
    const { latchkey, apiId } = await open();
    const { key } = await latchkey.createKey({ apiId, permissions: ["docs.read"] });
    const verdict = await latchkey.verifyKey({
      key,
      authorization: { permissions: { and: ["docs.read", { or: ["docs.write", "docs.read"] }] } },
    });
    expect(verdict.code).toBe("VALID");
    // @ts-expect-error: misspelt
    await latchkey.verifyKey({ key, authorization: { permissions: { or: ["docs.raed"] } } });
    // @ts-expect-error: misspelt
    latchkey.verifier({ permissions: "docs.raed" });
    // @ts-expect-error: what is held may be a wildcard, what is asked for may not
    latchkey.verifier({ permissions: "docs.*" });
    if (verdict.code === "VALID") {
      expectTypeOf(verdict.permissions).toEqualTypeOf<
        readonly (
          | "docs.read"
          | "docs.write"
          | "team.members.add"
          | "docs.*"
          | "team.*"
          | "team.members.*"
          | "*"
        )[]
      >();
      // @ts-expect-error: misspelt
      expect(verdict.permissions.includes("docs.raed")).toBe(false);
    }
    if (verdict.code === "INSUFFICIENT_PERMISSIONS" && typeof verdict.missing === "string")
      expectTypeOf(verdict.missing).toEqualTypeOf<
        "docs.read" | "docs.write" | "team.members.add"
      >();
  });

  test("compile in the defaults and ceilings of an API and in what a portal session allows, and no others do", async () => {
    const { latchkey, apiId } = await open();
    const tiles = [{ name: "tiles", limit: 5, duration: "1m" }] as const;
    const tlies = [{ name: "tlies", limit: 5, duration: "1m" }] as const;
    const defaults = { permissions: ["docs.read"], ratelimits: tiles } as const;
    await latchkey.updateApi({ apiId, defaults, ceilings: { permissions: ["docs.*"] } });
    const api = await latchkey.getApi({ apiId });
    await latchkey.updateApi({ apiId, defaults: { ...api.defaults, remaining: 1 } });
    // @ts-expect-error: misspelt
    await latchkey.createApi({ name: "tides", defaults: { permissions: ["docs.raed"] } });
    // @ts-expect-error: misspelt
    await latchkey.updateApi({ apiId, defaults: { ratelimits: tlies } });
    // @ts-expect-error: misspelt
    await refused(latchkey.updateApi({ apiId, defaults, ceilings: { permissions: ["dosc.*"] } }));
    const allow = { apiIds: [apiId], create: true, permissions: ["docs.read"] } as const;
    await latchkey.createPortalSession({ externalId: "a", allow: { ...allow, ratelimits: tiles } });
    const misspelt = { ...allow, permissions: ["docs.raed"] } as const;
    // @ts-expect-error: misspelt
    await refused(latchkey.createPortalSession({ externalId: "a", allow: misspelt }));
    // @ts-expect-error: misspelt
    await latchkey.createPortalSession({ externalId: "a", allow: { ...allow, ratelimits: tlies } });
  });

  test("compile as names of limits, together with default, and no others do", async () => {
    const { latchkey, apiId } = await open();
    const tiles = { limit: 5, duration: "1m" } as const;
    const { key, keyId } = await latchkey.createKey({
      apiId,
      ratelimits: [
        { name: "tiles", ...tiles },
        { name: "default", ...tiles },
      ],
    });
    // @ts-expect-error: misspelt
    await latchkey.createKey({ apiId, ratelimits: [{ name: "tlies", ...tiles }] });
    // @ts-expect-error: misspelt
    await latchkey.updateKey({ keyId, ratelimits: [{ name: "tlies", ...tiles }] });
    await latchkey.updateKey({ keyId, ratelimits: [{ name: "tiles", ...tiles }] });
    // @ts-expect-error: misspelt
    await latchkey.createIdentity({ externalId: "a", ratelimits: [{ name: "tlies", ...tiles }] });
    // @ts-expect-error: misspelt
    await refused(latchkey.verifyKey({ key, ratelimits: [{ name: "tlies" }] }));
    // @ts-expect-error: misspelt
    await refused(latchkey.reserve({ key, ratelimits: [{ name: "tlies" }] }));
    const held = await latchkey.reserve({ key, ratelimits: [{ name: "tiles" }] });
    if (held.code === "VALID") {
      const { reservationId } = held;
      expectTypeOf(reservationId).toEqualTypeOf<string>();
      // @ts-expect-error: misspelt
      await refused(latchkey.settle({ reservationId, ratelimits: [{ name: "tlies", cost: 0 }] }));
      await latchkey.settle({ reservationId, ratelimits: [{ name: "tiles", cost: 0 }] });
    }
    // @ts-expect-error: misspelt
    latchkey.verifier({ ratelimits: [{ name: "tlies" }] });
    // @ts-expect-error: misspelt
    await refused(latchkey.resetLimit({ keyId, name: "tlies" }));
    const verdict = await latchkey.verifier({ ratelimits: [{ name: "tiles", cost: 2 }] })(key);
    if (verdict.code !== "NOT_FOUND")
      expectTypeOf(verdict.ratelimits?.[0]?.name).toEqualTypeOf<"tiles" | "default" | undefined>();
  });

  test("also apply to the latchkey of another workspace or actor", async () => {
    const { latchkey } = await open();
    expectTypeOf(latchkey.workspace("ws_b").actingAs("support")).toEqualTypeOf(latchkey);
  });
});

describe("metadata with a schema", () => {
  test("accepts the input of the schema and returns its output, frozen and without undefined", async () => {
    const { latchkey, apiId } = await open();
    const { key, keyId } = await latchkey.createKey({
      apiId,
      externalId: "customer_7",
      meta: { plan: "pro", seats: 3 },
    });
    // @ts-expect-error: no such field is required to be a number
    await refused(latchkey.createKey({ apiId, meta: { plan: 5 } }));
    // @ts-expect-error: required
    await refused(latchkey.updateKey({ keyId, meta: {} }));
    const { meta } = await latchkey.getKey({ keyId });
    expectTypeOf(meta).toEqualTypeOf<
      { readonly plan: "free" | "pro"; readonly seats?: number } | undefined
    >();
    const verdict = await latchkey.verifyKey({ key });
    if (verdict.code !== "VALID") throw new Error(verdict.code);
    expectTypeOf(verdict.meta?.plan).toEqualTypeOf<"free" | "pro" | undefined>();
    expectTypeOf(verdict.identity?.meta.plan).toEqualTypeOf<"free" | "pro" | undefined>();
    expect([verdict.meta?.plan, verdict.identity?.meta.plan]).toEqual(["pro", undefined]);
    for await (const { meta: listed } of latchkey.keysOf({ apiId }))
      expectTypeOf(listed?.plan).toEqualTypeOf<"free" | "pro" | undefined>();
  });

  test("is optional for an identity", async () => {
    const { latchkey } = await open();
    const { identityId } = await latchkey.createIdentity({
      externalId: "a",
      meta: { plan: "pro" },
    });
    // @ts-expect-error: not of the schema
    await refused(latchkey.updateIdentity({ identityId, meta: { name: "a" } }));
    const { meta } = await latchkey.updateIdentity({ identityId, meta: {} });
    expectTypeOf(meta.plan).toEqualTypeOf<"free" | "pro" | undefined>();
    expect(meta).toEqual({});
  });

  test("must be a schema of objects", () => {
    const text = plans as unknown as StandardSchema<string, string>;
    // @ts-expect-error: metadata is an object
    createLatchkey({ store: memoryStore(), meta: text });
  });
});

describe("a latchkey without types", () => {
  test("accepts any name and any metadata", () => {
    const latchkey = createLatchkey({ store: memoryStore() });
    expectTypeOf(latchkey).branded.toEqualTypeOf<Latchkey>();
    expectTypeOf<NonNullable<(typeof latchkey)["~types"]>["permission"]>().toEqualTypeOf<string>();
    expectTypeOf<
      NonNullable<Awaited<ReturnType<typeof latchkey.getKey>>["meta"]>
    >().toEqualTypeOf<Metadata>();
    expectTypeOf<DefaultTypes["meta"][string]>().toEqualTypeOf<JsonValue>();
    const names: readonly string[] = ["docs.read"];
    const dynamic = createLatchkey({ store: memoryStore(), permissions: names });
    dynamic.verifier({ permissions: "anything" });
    const options: LatchkeyOptions = { store: memoryStore(), meta: plans };
    expectTypeOf(createLatchkey(options)).branded.toEqualTypeOf<Latchkey>();
  });
});

test("a latchkey with typed names is assignable to any latchkey", async () => {
  const { latchkey } = await open();
  const any: Latchkey = latchkey;
  expect(typeof createHandler({ latchkey })).toBe("function");
  expect(any.workspaceId).toBe("ws_default");
});
