import { createLatchkey, interceptStore, LatchkeyError, type LatchkeyEvent } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { metrics, trace } from "@opentelemetry/api";
import { ParentBasedSampler, type Sampler, SamplingDecision } from "@opentelemetry/sdk-trace-base";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import { instrument } from "./instrument.js";
import { instrumentStore } from "./store.js";
import { observed, openTelemetry } from "./testing/observed.js";

const AWAY = new LatchkeyError("STORE_UNAVAILABLE", "the secret of the store", {
  outcome: "not-applied",
});

/** A memory store whose calls can be made to fail. */
function failingStore() {
  let failures = 0;
  const store = interceptStore(memoryStore(), (_, run) => {
    if (failures === 0) return run();
    failures -= 1;
    return Promise.reject(AWAY);
  });
  return {
    store,
    failNext: () => {
      failures = 1;
    },
  };
}

describe("metrics", () => {
  test("and spans reach an SDK that is started after instrument was called", async () => {
    const create = instrument(createLatchkey);
    const latchkey = create({ store: memoryStore(), clock: () => 1_000 });
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key } = await latchkey.createKey({ apiId });
    const { providers, metric, spans } = openTelemetry();
    trace.setGlobalTracerProvider(providers.tracerProvider);
    metrics.setGlobalMeterProvider(providers.meterProvider);
    onTestFinished(() => {
      trace.disable();
      metrics.disable();
    });
    await latchkey.verifyKey({ key });
    for (const name of [
      "verifications",
      "verification.duration",
      "operation.duration",
      "store.call.duration",
    ])
      expect([name, (await metric(`latchkey.${name}`)).series.length > 0]).toEqual([name, true]);
    expect(spans().map(({ name }) => name)).toContain("latchkey.verifyKey");
  });

  test("count reservations by how they ended, and the verdicts that created them", async () => {
    let now = 1_000;
    const { latchkey, metric, spans, key, apiId } = await observed({ clock: () => now });
    const reserve = async () => {
      const verdict = await latchkey.reserve({ key });
      return verdict.code === "VALID" ? verdict.reservationId : "";
    };
    await latchkey.settle({ reservationId: await reserve() });
    await latchkey.release({ reservationId: await reserve() });
    const reservationId = await reserve();
    now += 300_000;
    await expect(latchkey.settle({ reservationId })).rejects.toThrow("reservation has expired");
    const end = "latchkey.reservation.end";
    expect(await metric("latchkey.reservations")).toMatchObject({
      series: [
        { count: 2, labels: { [end]: "settled" } },
        { count: 1, labels: { [end]: "expired" } },
      ],
    });
    const labels = { "latchkey.verdict.code": "VALID", "latchkey.api.id": apiId };
    expect(await metric("latchkey.verifications")).toMatchObject({
      series: [{ count: 3, labels }],
    });
    const span = spans().find(({ name }) => name === "latchkey.reserve");
    expect(span?.attributes).toMatchObject(labels);
  });

  test("count verdicts by code and API, those on unknown secrets without an API", async () => {
    const { latchkey, metric, key, keyId, apiId } = await observed();
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key: "nobody" });
    await latchkey.updateKey({ keyId, enabled: false });
    await latchkey.verifyKey({ key });
    expect(await metric("latchkey.verifications")).toEqual({
      unit: "{verification}",
      series: [
        { count: 2, labels: { "latchkey.verdict.code": "VALID", "latchkey.api.id": apiId } },
        { count: 1, labels: { "latchkey.verdict.code": "NOT_FOUND" } },
        { count: 1, labels: { "latchkey.verdict.code": "DISABLED", "latchkey.api.id": apiId } },
      ],
    });
  });

  test("count verdicts that a shadow limit would have refused, without changing them", async () => {
    const { latchkey, metric, keyId, key, apiId } = await observed();
    const limit = { limit: 1, duration: 3_600_000 };
    await latchkey.updateKey({ keyId, ratelimit: { ...limit, shadow: true } });
    for (let at = 0; at < 3; at += 1) await latchkey.verifyKey({ key });
    const labels = { "latchkey.verdict.code": "VALID", "latchkey.api.id": apiId };
    expect(await metric("latchkey.verifications")).toMatchObject({
      series: [{ count: 3, labels }],
    });
    expect(await metric("latchkey.verifications.shadow_limited")).toEqual({
      unit: "{verification}",
      series: [{ count: 2, labels }],
    });
  });

  test("tell verifications from the cache apart", async () => {
    const { latchkey, metric, key } = await observed();
    for (let index = 0; index < 3; index += 1) await latchkey.verifyKey({ key });
    const code = { "latchkey.verdict.code": "VALID" };
    expect(await metric("latchkey.verification.duration")).toEqual({
      unit: "s",
      series: [
        { count: 1, labels: { ...code, "latchkey.cache.hit": false, "latchkey.leased": false } },
        { count: 2, labels: { ...code, "latchkey.cache.hit": true, "latchkey.leased": false } },
      ],
    });
  });

  test("distinguish only maxApis APIs: the rest are other", async () => {
    const { latchkey, metric, key, apiId } = await observed({ telemetry: { maxApis: 1 } });
    await latchkey.verifyKey({ key });
    for (const name of ["buoys", "piers"]) {
      const { apiId: another } = await latchkey.createApi({ name });
      const { key: other } = await latchkey.createKey({ apiId: another });
      await latchkey.verifyKey({ key: other });
    }
    await latchkey.verifyKey({ key });
    const { series } = await metric("latchkey.verifications");
    expect(series.map(({ count, labels }) => [count, labels["latchkey.api.id"]])).toEqual([
      [2, apiId],
      [2, "other"],
    ]);
  });

  test("name operations, and the error code of a failed one", async () => {
    const { latchkey, metric, key } = await observed();
    await latchkey.verifier()(key);
    await latchkey.getKey({ keyId: "key_unknown" }).catch(() => undefined);
    expect(await metric("latchkey.operation.duration")).toEqual({
      unit: "s",
      series: [
        { count: 1, labels: { "latchkey.operation.name": "createApi" } },
        { count: 1, labels: { "latchkey.operation.name": "createKey" } },
        { count: 1, labels: { "latchkey.operation.name": "verifyKey" } },
        {
          count: 1,
          labels: { "latchkey.operation.name": "getKey", "error.type": "NOT_FOUND" },
        },
      ],
    });
  });

  test("measure the store by method, with its failures", async () => {
    const { store, failNext } = failingStore();
    const { latchkey, metric, key } = await observed({ store });
    await latchkey.verifyKey({ key });
    failNext();
    await expect(latchkey.verifyKey({ key })).rejects.toBe(AWAY);
    const { series } = await metric("latchkey.store.call.duration");
    const charge = { "latchkey.store.method": "charge" };
    expect(series.filter(({ labels }) => labels["latchkey.store.method"] === "charge")).toEqual([
      { count: 1, labels: charge },
      { count: 1, labels: { ...charge, "error.type": "STORE_UNAVAILABLE" } },
    ]);
  });

  test("count the calls of the store that latchkey has to retry", async () => {
    const store = memoryStore();
    const { latchkey, metric, key, keyId } = await observed({ store });
    await latchkey.verifyKey({ key });
    await createLatchkey({ store }).updateKey({ keyId, name: "north" });
    await latchkey.verifyKey({ key });
    expect(await metric("latchkey.store.retries")).toEqual({
      unit: "{retry}",
      series: [{ count: 1, labels: { "latchkey.store.method": "charge" } }],
    });
  });
});

describe("spans", () => {
  test("exist for each operation, and within it for each call of the store", async () => {
    const { latchkey, spans, key, apiId } = await observed();
    const before = spans().length;
    await latchkey.verifyKey({ key });
    const workspace = { "latchkey.workspace.id": "ws_default" };
    const all = spans().slice(before);
    expect(all.at(-1)).toEqual({
      name: "latchkey.verifyKey",
      attributes: {
        ...workspace,
        "latchkey.operation.name": "verifyKey",
        "latchkey.verdict.code": "VALID",
        "latchkey.api.id": apiId,
      },
      isError: false,
      parent: null,
    });
    expect(all.at(-2)).toEqual({
      name: "latchkey.store.charge",
      attributes: {
        ...workspace,
        "latchkey.store.method": "charge",
        "latchkey.store.result": "charged",
      },
      isError: false,
      parent: "latchkey.verifyKey",
    });
    expect(all.slice(0, -1).map(({ parent }) => parent)).toEqual(
      all.slice(0, -1).map(() => "latchkey.verifyKey"),
    );
  });

  test("name the key only with keyIds", async () => {
    const { latchkey, spans, key, keyId } = await observed({ telemetry: { keyIds: true } });
    await latchkey.verifyKey({ key });
    expect(spans().at(-1)?.attributes).toMatchObject({ "latchkey.key.id": keyId });
  });

  test("of a failure contain the type of the error, and nothing else of it", async () => {
    const { store, failNext } = failingStore();
    const { latchkey, spans, dump } = await observed({ store });
    failNext();
    await latchkey.listApis().catch(() => undefined);
    expect(spans().slice(-2)).toMatchObject([
      { isError: true, attributes: { "error.type": "STORE_UNAVAILABLE" } },
      { isError: true, attributes: { "error.type": "STORE_UNAVAILABLE" } },
    ]);
    expect(await dump()).not.toContain("the secret of the store");
  });

  test("of the store are left out if the span of the operation is", async () => {
    // Samples a root span only if it is the store's.
    const root: Sampler = {
      shouldSample: (_context, _traceId, name) => ({
        decision: name.startsWith("latchkey.store")
          ? SamplingDecision.RECORD_AND_SAMPLED
          : SamplingDecision.NOT_RECORD,
      }),
    };
    const { providers, spans } = openTelemetry(new ParentBasedSampler({ root }));
    const store = instrumentStore(memoryStore(), providers);
    await instrument(createLatchkey, providers)({ store: memoryStore() }).listApis();
    expect(spans()).toEqual([]);
    await store.read("ws_default", []);
    expect(spans()).toMatchObject([{ name: "latchkey.store.read" }]);
  });

  test("exist for other workspaces, actors and verifiers too", async () => {
    const { latchkey, spans, key } = await observed();
    await latchkey.workspace("ws_north").actingAs("harbour master").listApis();
    await latchkey.verifier()(key);
    const names = spans().map(({ name, attributes }) => [
      name,
      attributes["latchkey.workspace.id"],
    ]);
    expect(names).toContainEqual(["latchkey.listApis", "ws_north"]);
    expect(names.at(-1)).toEqual(["latchkey.verifyKey", "ws_default"]);
  });
});

test("no secret is in a span or a metric", async () => {
  const { latchkey, dump, key, apiId } = await observed({ telemetry: { keyIds: true } });
  const { rootKeyId, key: rootKey } = await latchkey.createRootKey({ permissions: ["*"] });
  await latchkey.verifyKey({ key, tags: ["gate-7"] });
  await latchkey.whoami({ key });
  await latchkey.authenticateRootKey(rootKey);
  await latchkey.verifyKey({ key: `${key}x` });
  await latchkey.createKey({ apiId, externalId: "pier-7", meta: { plan: "gold" } });
  const text = await dump();
  expect(text).toContain(apiId);
  for (const hidden of [key, key.slice(0, 12), rootKey, rootKeyId, "gate-7", "pier-7", "gold"])
    expect(text).not.toContain(hidden);
});

test("120 secrets that go through every kind of call are in no span and no metric, however encoded", async () => {
  const { latchkey, dump, apiId } = await observed({ telemetry: { keyIds: true } });
  const secrets: string[] = [];
  for (let at = 0; at < 40; at += 1) {
    const { key, keyId } = await latchkey.createKey({ apiId });
    const { key: next } = await latchkey.rotateKey({ keyId });
    const plaintext = `sk_imported_${crypto.randomUUID()}`;
    await latchkey.createKeys([{ apiId, plaintext }]);
    secrets.push(key, next, plaintext);
  }
  const fails = (call: Promise<unknown>) => call.catch(() => undefined);
  for (const key of secrets) {
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key: `${key}x` });
    await fails(latchkey.verifyKey({ key, ratelimits: [{ name: key }] }));
    await fails(latchkey.authenticateRootKey(key));
    await fails(latchkey.getKey({ keyId: key }));
    await fails(latchkey.createKeys([{ apiId, plaintext: key }]));
  }
  const text = await dump();
  expect(text).toContain(apiId);
  for (const secret of secrets) {
    const bytes = Buffer.from(secret);
    const forms = (["base64", "base64url", "hex"] as const).map((name) => bytes.toString(name));
    for (const form of [secret, [...secret].join("\\u0000"), ...forms])
      expect(text).not.toContain(form);
  }
});

describe("an instrumented latchkey", () => {
  test("returns and throws the same as any other, and calls the host's listener", async () => {
    const events: LatchkeyEvent[] = [];
    const { latchkey, key, keyId, apiId } = await observed({
      onEvent: (event) => events.push(event),
    });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true, keyId, apiId });
    await expect(latchkey.getApi({ apiId: "api_unknown" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect(() => latchkey.verifier({ cost: -1 })).toThrow(LatchkeyError);
    expect(events.map(({ type }) => type)).toEqual(["api.created", "key.created", "key.verified"]);
    expect(Object.keys(latchkey)).toEqual(Object.keys(createLatchkey({ store: memoryStore() })));
  });

  test("is created by a function of the same type", () => {
    const create = instrument(createLatchkey);
    expectTypeOf(create).toEqualTypeOf<typeof createLatchkey>();
    expect(create).toBeTypeOf("function");
  });

  test("reports an error that the host's listener throws", async () => {
    const broken = new Error("the listener is broken");
    const errors: unknown[] = [];
    await observed({
      onEvent: () => {
        throw broken;
      },
      onError: (error) => errors.push(error),
    });
    expect(errors).toEqual([broken]);
  });

  test.each([undefined, {}, createLatchkey({ store: memoryStore() })])(
    "is refused where it is not the function that makes it",
    (given) => {
      expect(() => instrument(given as never)).toThrow(
        new TypeError(
          '"createLatchkey" must be the function: instrument(createLatchkey)({ store })',
        ),
      );
    },
  );

  test("cannot be created with options that createLatchkey refuses", () => {
    const create = instrument(createLatchkey);
    expect(() => create({} as never)).toThrow('"store" must be a KeyStore');
    expect(() => create(undefined as never)).toThrow("needs an object of options");
    const wrong = { store: memoryStore(), onEvent: "log" as never };
    expect(() => create(wrong)).toThrow('"onEvent" must be a function');
  });
});

test.each([
  [{ maxApis: -1 }, '"maxApis" must be a whole number from 0 to 10000'],
  [{ maxApis: 10_001 }, '"maxApis" must be a whole number from 0 to 10000'],
  [{ maxApis: 0.5 }, '"maxApis" must be a whole number from 0 to 10000'],
  [{ keyIds: "yes" }, '"keyIds" must be true or false'],
  [{ maxApi: 5 }, '"maxApi" is not an option of @latchkey/otel'],
])("the options %j are refused", (options, message) => {
  expect(() => instrument(createLatchkey, options as never)).toThrow(new TypeError(message));
});

test("a store alone can be instrumented, and a synchronous charge stays synchronous", async () => {
  const { providers, metric } = openTelemetry();
  const store = instrumentStore(memoryStore(), providers);
  const plan = {
    workspaceId: "ws_default",
    revision: null,
    confirms: [],
    mode: "peek",
    cost: 0,
    uses: null,
    limits: [],
  } as const;
  expect(store.charge(plan, { now: 1, refill: null })).toMatchObject({ kind: "charged" });
  expect(await store.read("ws_default", [])).toMatchObject({ found: [] });
  await store.close();
  const { series } = await metric("latchkey.store.call.duration");
  expect(series.map(({ labels }) => labels)).toEqual([
    { "latchkey.store.method": "charge" },
    { "latchkey.store.method": "read" },
  ]);
});

test("without providers in the options, the global ones are used, which do nothing unless they were set", async () => {
  const latchkey = instrument(createLatchkey)({ store: memoryStore() });
  expect(await latchkey.listApis()).toMatchObject({ apis: [] });
});
