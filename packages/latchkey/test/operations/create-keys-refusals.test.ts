import { describe, expect, test } from "vitest";
import { base64, digest, foreign, hex, openApi, pepperOf, written } from "../imports.js";
import { describeOnMemory, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("createKeys, refused or raced", (open) => {
  test("a known secret is a conflict, and nothing of the list is written", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
    const issued = await latchkey.createKey({ apiId });
    await latchkey.createKeys([{ apiId, hash: hex(foreign(1)) }]);
    const before = await written(context, apiId);
    const fresh = { apiId, hash: hex(foreign(9)), externalId: "new" };
    for (const [known, field] of [
      [{ apiId, hash: base64(foreign(1)) }, "hash"],
      [{ apiId, plaintext: foreign(1) }, "plaintext"],
      [{ apiId, plaintext: issued.key }, "plaintext"],
      [{ apiId, hash: base64(foreign(9)) }, "hash"],
      [{ apiId, plaintext: foreign(9) }, "plaintext"],
    ] as const) {
      const error = await rejectionOf(latchkey.createKeys([fresh, known]));
      expect(error).toMatchObject({ code: "CONFLICT" });
      expect(error.message).toContain(`"1.${field}"`);
      expect(await written(context, apiId)).toEqual(before);
    }
  });

  test("a plaintext known under an earlier pepper or without one is a conflict, too", async () => {
    const context = open();
    const apiId = await openApi(context);
    await context.latchkey.createKeys([{ apiId, hash: hex(foreign(1)) }]);
    await context
      .another({ pepper: pepperOf("p1") })
      .createKeys([{ apiId, plaintext: foreign(2) }]);
    const before = await written(context, apiId);
    const later = context.another({ pepper: pepperOf("p2", "p1") });
    for (const at of [1, 2]) {
      const call = later.createKeys([{ apiId, plaintext: foreign(at) }]);
      expect(await rejectionOf(call)).toMatchObject({ code: "CONFLICT" });
    }
    const both = later.createKeys([
      { apiId, plaintext: foreign(5) },
      { apiId, hash: hex(foreign(5)) },
    ]);
    expect((await rejectionOf(both)).message).toContain('"1.hash"');
    expect(await written(context, apiId)).toEqual(before);
  });

  describe.each([
    ["by hash, then by plaintext", ["hash", "plaintext"]],
    ["by plaintext, then by hash", ["plaintext", "hash"]],
  ] as const)("with a pepper, a secret that comes %s", (_, fields) => {
    const importedAs = (apiId: string, field: "hash" | "plaintext") =>
      field === "hash" ? { apiId, hash: hex(foreign(1)) } : { apiId, plaintext: foreign(1) };

    test("creates one key, in one process or in two", async () => {
      const context = open({ pepper: pepperOf("p1") });
      const apiId = await openApi(context);
      const [first, second] = fields;
      await context.latchkey.createKeys([importedAs(apiId, first)]);
      const before = await written(context, apiId);
      for (const latchkey of [context.latchkey, context.another()])
        for (const list of [
          [importedAs(apiId, second)],
          [{ apiId, hash: hex(foreign(2)) }, importedAs(apiId, second)],
        ]) {
          const error = await rejectionOf(latchkey.createKeys(list));
          const field = `${list.length - 1}.${second}`;
          expect({ ...error }).toMatchObject({ code: "CONFLICT", details: { field } });
        }
      expect(await written(context, apiId)).toEqual(before);
      expect((await context.latchkey.verifyKey({ key: foreign(1) })).code).toBe("VALID");
    });

    test("creates one key even if the pepper was rotated in between", async () => {
      const context = open();
      const apiId = await openApi(context);
      const [first, second] = fields;
      const earlier = context.another({ pepper: pepperOf("p1") });
      await earlier.createKeys([importedAs(apiId, first)]);
      const later = context.another({ pepper: pepperOf("p2", "p1") });
      const error = await rejectionOf(later.createKeys([importedAs(apiId, second)]));
      expect(error).toMatchObject({ code: "CONFLICT" });
      expect((await context.latchkey.listKeys({ apiId })).total).toBe(1);
    });

    test("creates one key if both calls race", async () => {
      const context = open({ pepper: pepperOf("p1") });
      const apiId = await openApi(context);
      const processes = [context.latchkey, context.another()] as const;
      const outcomes = await Promise.allSettled(
        fields.map((field, at) => processes[at as 0 | 1].createKeys([importedAs(apiId, field)])),
      );
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refused).toMatchObject([{ reason: { code: "CONFLICT" } }]);
      expect((await context.latchkey.listKeys({ apiId })).total).toBe(1);
    });
  });

  test("for one bad field in 100 keys, the error names row and field, and nothing is written", async () => {
    const context = open();
    const apiId = await openApi(context);
    const bad: readonly (readonly [string, object])[] = [
      ["createdAt", { createdAt: NOON + 1 }],
      ["expires", { expires: 0 }],
      ["hash.value", { hash: { value: "A".repeat(44), variant: "sha256_base64url" } }],
      ["meta", { meta: "no" }],
      ["ratelimits.0.limit", { ratelimits: [{ name: "a", limit: 0, duration: 1 }] }],
    ];
    const before = await written(context, apiId);
    for (const [field, fields] of bad) {
      const list = Array.from({ length: 100 }, (_, at) => ({
        apiId,
        hash: hex(foreign(at)),
        ...(at === 73 && fields),
      }));
      const error = await rejectionOf(context.latchkey.createKeys(list as never));
      expect(error.issues).toMatchObject([{ path: `73.${field}` }]);
      expect(error.message).toContain(`"73.${field}"`);
    }
    expect(await written(context, apiId)).toEqual(before);
  });

  test("of racing calls with one list, one writes it, and the others write nothing", async () => {
    const context = open();
    const apiId = await openApi(context);
    const list = Array.from({ length: 10 }, (_, at) => ({ apiId, hash: hex(foreign(at)) }));
    const other = context.another();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => (at % 2 ? context.latchkey : other).createKeys(list)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
    expect((await context.latchkey.listKeys({ apiId })).total).toBe(10);
  });

  test("an unknown API and one of another workspace are refused by place in the same way, and nothing is written", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
    const { apiId: other } = await latchkey
      .workspace("ws_other")
      .createApi({ name: "tide tables" });
    const before = await written(context, apiId);
    for (const unknown of ["api_unknown", other]) {
      const call = latchkey.createKeys([
        { apiId, hash: hex(foreign(1)), externalId: "new" },
        { apiId: unknown, hash: hex(foreign(2)) },
      ]);
      expect(await rejectionOf(call)).toMatchObject({
        code: "NOT_FOUND",
        message: 'no such API: "1.apiId"',
      });
    }
    expect(await written(context, apiId)).toEqual(before);
  });

  test("every missing role and permission of all keys is named, and nothing is written", async () => {
    const context = open();
    const apiId = await openApi(context);
    const before = await written(context, apiId);
    const error = await rejectionOf(
      context.latchkey.createKeys([
        { apiId, hash: hex(foreign(1)), roles: ["pilot"], externalId: "new" },
        { apiId, hash: hex(foreign(2)), roles: ["diver"], permissions: ["tides.read"] },
      ]),
    );
    expect(error.code).toBe("PRECONDITION_FAILED");
    for (const name of ["pilot", "diver", "tides.read"]) expect(error.message).toContain(name);
    expect(await written(context, apiId)).toEqual(before);
  });

  test.each([
    [10_000, "PRECONDITION_FAILED"],
    [10_001, "BAD_REQUEST"],
  ])("a list with %i roles and permissions in total is refused with %s", async (count, code) => {
    const context = open();
    const apiId = await openApi(context);
    const names = (most: number) => Array.from({ length: most }, (_, index) => `missing.${index}`);
    const imports = Array.from({ length: 11 }, (_, index) => ({
      apiId,
      hash: hex(foreign(index)),
      permissions: names(index < 10 ? 1_000 : count - 10_000),
    }));
    expect(await rejectionOf(context.latchkey.createKeys(imports))).toMatchObject({ code });
  });

  test("recoverable needs a vault; without one, nothing is written", async () => {
    const context = open();
    const apiId = await openApi(context);
    const call = context.latchkey.createKeys([
      { apiId, hash: hex(foreign(1)) },
      { apiId, plaintext: foreign(2), recoverable: true },
    ]);
    expect(await rejectionOf(call)).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect((await context.latchkey.listKeys({ apiId })).total).toBe(0);
  });

  test("all issues of a list are reported at once, by place, without repeating its contents", async () => {
    const context = open();
    const apiId = await openApi(context);
    const { key } = await context.latchkey.createKey({ apiId });
    const damaged = `${key.slice(0, -1)}${key.endsWith("2") ? "3" : "2"}`;
    const secret = foreign(7);
    const error = await rejectionOf(
      context.latchkey.createKeys([
        { apiId },
        { apiId, hash: hex(secret), plaintext: secret },
        { apiId, hash: { value: digest(secret).toString("base64url"), variant: "sha256_base64" } },
        { apiId, hash: { value: secret, variant: "sha256_hex" } },
        { apiId, hash: { value: secret, variant: "md5" } },
        { apiId, plaintext: damaged },
        { apiId, plaintext: "caf\u00e9" },
        { apiId, plaintext: "" },
        { apiId, plaintext: "x".repeat(513) },
        { apiId, plaintext: secret, start: secret.slice(0, 13) },
        { apiId, plaintext: secret, start: "other" },
        { apiId, hash: hex("short secret"), start: "short secret" },
        { apiId, hash: hex(secret), start: "s".repeat(33) },
        { apiId, hash: hex(secret), recoverable: true },
        { apiId, hash: hex(secret), prefix: "x_", byteLength: 16, createdAt: NOON + 1 },
        { apiId, hash: hex(secret), remaining: -1, refill: { interval: "daily", amount: 1 } },
        null,
      ] as never),
    );
    expect(error.code).toBe("BAD_REQUEST");
    expect((error.issues as { path: string }[]).map(({ path }) => path)).toEqual([
      "0.hash",
      "1.plaintext",
      "2.hash.value",
      "3.hash.value",
      "4.hash.variant",
      "5.plaintext",
      "6.plaintext",
      "7.plaintext",
      "8.plaintext",
      "9.start",
      "10.start",
      "11.start",
      "12.start",
      "13.recoverable",
      "14.prefix",
      "14.byteLength",
      "15.remaining",
      "16",
      "14.createdAt",
    ]);
    const output = JSON.stringify([error.message, error.issues]);
    for (const given of [secret, damaged, digest(secret).toString("base64url")])
      expect(output).not.toContain(given);
    expect((await context.latchkey.listKeys({ apiId })).total).toBe(1);
  });

  test.each([
    ["no list", { 0: { apiId: "a" } }],
    ["nothing", undefined],
    ["an empty list", []],
    ["101 keys", Array.from({ length: 101 }, (_, at) => ({ apiId: "a", hash: hex(foreign(at)) }))],
  ])("%s is refused as a whole", async (_, list) => {
    const context = open();
    const error = await rejectionOf(context.latchkey.createKeys(list as never));
    const message = list === undefined ? "is required" : "must be a list of 1 to 100 keys";
    expect(error.issues).toEqual([{ path: "", message }]);
    expect(error.message).toBe(`the input ${message}`);
  });
});
