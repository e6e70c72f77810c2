import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createHandler } from "../index.js";

const plan = z.object({
  plan: z.enum(["free", "pro"]),
  seats: z.number().int().default(1),
  tags: z.array(z.object({ name: z.string().min(1) })).optional(),
});

async function open() {
  const latchkey = createLatchkey({
    store: memoryStore(),
    meta: plan,
    identityMeta: z.object({ city: z.string() }).refine(async ({ city }) => city !== "Atlantis", {
      path: ["city"],
      error: "must exist",
    }),
  });
  onTestFinished(() => latchkey.close());
  const { apiId } = await latchkey.createApi({ name: "payments" });
  return { latchkey, apiId };
}

async function issuesOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof LatchkeyError)) throw new Error(`not refused: ${String(error)}`);
  expect(error.code).toBe("BAD_REQUEST");
  return error.issues.map(({ path }) => path);
}

describe("a schema of metadata", () => {
  test("determines what is stored: defaults are filled in, and types follow", async () => {
    const { latchkey, apiId } = await open();
    const { keyId } = await latchkey.createKey({ apiId, meta: { plan: "pro" } });
    const { meta } = await latchkey.getKey({ keyId });
    expect(meta).toEqual({ plan: "pro", seats: 1 });
    expectTypeOf(meta?.seats).toEqualTypeOf<number | undefined>();
    await latchkey.updateKey({ keyId, meta: { plan: "free", seats: 2 } });
    expect((await latchkey.getKey({ keyId })).meta).toEqual({ plan: "free", seats: 2 });
    await latchkey.updateKey({ keyId, meta: null });
    expect((await latchkey.getKey({ keyId })).meta).toBeUndefined();
  });

  test("refuses at every write, naming the path, and nothing is written", async () => {
    const { latchkey, apiId } = await open();
    const meta = { plan: "gold", tags: [{ name: "a" }, { name: "" }] } as never;
    const paths = ["meta.plan", "meta.tags.1.name"];
    expect(await issuesOf(latchkey.createKey({ apiId, meta }))).toEqual(paths);
    const imported = { apiId, plaintext: "sk_1", meta: { plan: "pro" } } as const;
    expect(await issuesOf(latchkey.createKeys([imported, { ...imported, meta }]))).toEqual(
      paths.map((path) => `1.${path}`),
    );
    expect((await latchkey.listKeys({ apiId })).total).toBe(0);
    const { keyId } = await latchkey.createKey({ apiId });
    expect(await issuesOf(latchkey.updateKey({ keyId, name: "new", meta }))).toEqual(paths);
    expect((await latchkey.getKey({ keyId })).name).toBeUndefined();
  });

  test("of identities can be asynchronous, and is not called for {}", async () => {
    const { latchkey } = await open();
    const create = (externalId: string, city: string) =>
      latchkey.createIdentity({ externalId, meta: { city } });
    expect(await issuesOf(create("a", "Atlantis"))).toEqual(["meta.city"]);
    const { identityId } = await create("a", "Lisbon");
    expect(
      await issuesOf(latchkey.updateIdentity({ identityId, meta: { city: "Atlantis" } })),
    ).toEqual(["meta.city"]);
    expect((await latchkey.updateIdentity({ identityId, meta: {} })).meta).toEqual({});
    await latchkey.createIdentity({ externalId: "b", meta: {} });
  });

  test("cannot exceed the bounds of metadata, which are checked before and after it", async () => {
    const latchkey = createLatchkey({
      store: memoryStore(),
      meta: z.object({ at: z.number() }).transform(({ at }) => ({ at: new Date(at) })),
    });
    onTestFinished(() => latchkey.close());
    const { apiId } = await latchkey.createApi({ name: "payments" });
    expect(await issuesOf(latchkey.createKey({ apiId, meta: { at: 1 } }))).toEqual(["meta"]);
    const cyclic: { at: number; self?: unknown } = { at: 1 };
    cyclic.self = cyclic;
    expect(await issuesOf(latchkey.createKey({ apiId, meta: cyclic }))).toEqual(["meta"]);
  });

  test("holds over HTTP, too", async () => {
    const { latchkey, apiId } = await open();
    const handler = createHandler({ latchkey });
    const { key } = await latchkey.createRootKey({ permissions: ["*"] });
    const create = (meta: object) =>
      handler(
        new Request("http://keys.test/v1/keys.createKey", {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ apiId, meta }),
        }),
      );
    const refused = await create({ plan: "gold" });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("meta.plan");
    expect((await create({ plan: "free" })).status).toBe(200);
  });
});

test.each([["meta"], ["identityMeta"]] as const)(
  "%s that is no schema is refused at once",
  (name) => {
    expect(() => createLatchkey({ store: memoryStore(), [name]: {} as never })).toThrow(
      new TypeError(`"${name}" must be a schema with Standard Schema`),
    );
  },
);

test.each([["permissions"], ["ratelimits"]] as const)("%s must be a list of names", (name) => {
  expect(() => createLatchkey({ store: memoryStore(), [name]: [5] as never })).toThrow(
    new TypeError(`"${name}" must be a list of names`),
  );
});
