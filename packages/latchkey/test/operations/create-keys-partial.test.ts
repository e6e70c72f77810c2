import { expect, test } from "vitest";
import { base64, foreign, hex, openApi, pepperOf, written } from "../imports.js";
import { describeOnMemory, NOON, rejectionOf } from "../test-context.js";
import { wrapped } from "../wrapped-store.js";

const PARTIAL = { partial: true } as const;

describeOnMemory("createKeys with partial", (open) => {
  test("returns an id or an error for each key, and writes the valid ones", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
    await latchkey.createKeys([{ apiId, hash: hex(foreign(9)) }]);
    const { results } = await latchkey.createKeys(
      [
        { apiId, hash: hex(foreign(1)), expires: 1, createdAt: 1 },
        { apiId, hash: hex("short").value as never },
        { apiId: "api_none", hash: hex(foreign(2)) },
        { apiId, hash: hex(foreign(3)), permissions: ["no.such"], roles: ["none", "none"] },
        { apiId, plaintext: foreign(9) },
        { apiId, plaintext: foreign(1) },
        { apiId, hash: hex(foreign(4)), createdAt: NOON + 1 },
        { apiId, plaintext: foreign(5), recoverable: true },
        { apiId, hash: base64(foreign(6)), externalId: "pier-7" },
      ],
      PARTIAL,
    );
    expect(results.map(({ error }) => error?.code)).toEqual([
      undefined,
      "BAD_REQUEST",
      "NOT_FOUND",
      "PRECONDITION_FAILED",
      "CONFLICT",
      "CONFLICT",
      "BAD_REQUEST",
      "PRECONDITION_FAILED",
      undefined,
    ]);
    expect(results[3]?.error).toMatchObject({
      details: { missing: { roles: ["none"], permissions: ["no.such"] } },
    });
    expect(results[6]?.error?.issues).toEqual([
      { path: "createdAt", message: "must not be later than now" },
    ]);
    const { keys } = await latchkey.listKeys({ apiId });
    expect(keys.slice(1).map(({ id }) => ({ keyId: id }))).toEqual([results[0], results[8]]);
    expect((await latchkey.verifyKey({ key: foreign(6) })).code).toBe("VALID");
    expect((await latchkey.listIdentities({})).total).toBe(1);
  });

  test("recognises a secret under any pepper and in either form", async () => {
    const context = open();
    const apiId = await openApi(context);
    await context.latchkey.createKeys([{ apiId, hash: hex(foreign(1)) }]);
    const peppered = context.another({ pepper: pepperOf("p1") });
    await peppered.createKeys([{ apiId, hash: hex(foreign(2)) }]);
    await peppered.createKeys([{ apiId, plaintext: foreign(3) }]);
    const later = context.another({ pepper: pepperOf("p2", "p1") });
    const again = [1, 2, 3].map((at) => ({ apiId, plaintext: foreign(at) }));
    const twice = [
      { apiId, hash: hex(foreign(3)) },
      { apiId, hash: hex(foreign(4)) },
      { apiId, plaintext: foreign(4) },
    ];
    const { results } = await later.createKeys([...again, ...twice], PARTIAL);
    expect(results.map(({ error }) => error?.details?.field)).toEqual([
      "plaintext",
      "plaintext",
      "plaintext",
      "hash",
      undefined,
      "plaintext",
    ]);
  });

  test("of racing calls with the same secrets, one imports each secret, and the others report that it exists", async () => {
    const context = open();
    const apiId = await openApi(context);
    const keys = [1, 2, 3].map((at) => ({ apiId, hash: hex(foreign(at)) }));
    const answers = await Promise.all(
      [0, 1, 2, 3].map(() => context.another({}).createKeys(keys, PARTIAL)),
    );
    const codes = answers.flatMap(({ results }) => results.map(({ error }) => error?.code));
    expect(codes.filter((code) => code === undefined)).toHaveLength(3);
    expect(codes.filter((code) => code === "CONFLICT")).toHaveLength(9);
    expect((await context.latchkey.listKeys({ apiId })).total).toBe(3);
  });

  test("a dry run gives the same results as a real one, and writes nothing", async () => {
    const context = open();
    const { latchkey } = context;
    const apiId = await openApi(context);
    const before = await written(context, apiId);
    const keys = [
      { apiId, hash: hex(foreign(1)), externalId: "pier-7" },
      { apiId, hash: hex(foreign(1)) },
    ];
    const { results } = await latchkey.createKeys(keys, { partial: true, dryRun: true });
    expect(results.map((result) => result.error?.code ?? result.keyId)).toEqual([null, "CONFLICT"]);
    expect(await written(context, apiId)).toEqual(before);
  });

  test("a dry run writes nothing to an owner with a ceiling", async () => {
    const context = open();
    const { latchkey, store } = context;
    const ceilings = { maxKeysPerIdentity: 5 };
    const { apiId } = await latchkey.createApi({ name: "tide tables", ceilings });
    await latchkey.createKey({ apiId, externalId: "pier-7" });
    const puts: unknown[] = [];
    const commit: typeof store.commit = (workspaceId, change) => {
      puts.push(...change.puts);
      return store.commit(workspaceId, change);
    };
    const other = context.another({ store: wrapped(store, { commit }) });
    const keys = [{ apiId, hash: hex(foreign(1)), externalId: "pier-7" }];
    const dry = await other.createKeys(keys, { partial: true, dryRun: true });
    expect(dry.results).toEqual([{ keyId: null }]);
    expect(puts).toEqual([]);
  });

  test("refuses only the keys that need uses to be counted, in a dry run too", async () => {
    const context = open();
    const apiId = await openApi(context);
    const other = context.another({ usage: false });
    const keys = [
      { apiId, hash: hex(foreign(1)), expiresWhenUnused: "30d" },
      { apiId, hash: hex(foreign(2)) },
    ] as const;
    for (const dryRun of [true, false]) {
      const { results } = await other.createKeys(keys, { partial: true, dryRun });
      expect(results.map(({ error }) => error?.reason)).toEqual(["usage-off", undefined]);
    }
    expect((await context.latchkey.listKeys({ apiId })).total).toBe(1);
  });

  test("refuses an invalid list or option as a whole", async () => {
    const context = open();
    const { latchkey } = context;
    const refusals = [
      latchkey.createKeys([], PARTIAL),
      latchkey.createKeys("keys" as never, PARTIAL),
      latchkey.createKeys([{} as never], { partial: true, dryrun: true } as never),
      latchkey.createKeys([{} as never], { partial: false } as never),
    ];
    for (const refusal of refusals)
      expect(await rejectionOf(refusal)).toMatchObject({ code: "BAD_REQUEST" });
  });
});
