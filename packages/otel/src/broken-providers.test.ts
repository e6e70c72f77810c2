import { createLatchkey, type LatchkeyEvent } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { INVALID_SPAN_CONTEXT, trace } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { instrument } from "./instrument.js";

test("an instrumented latchkey returns the same, and calls the host's listener, even if the providers throw", async () => {
  const broken = new Error("the provider is broken");
  const fail = () => {
    throw broken;
  };
  const failing = new Proxy({}, { get: () => fail }) as never;
  // As with a processor of spans that throws in onStart or in onEnd.
  const unending = Object.assign(trace.wrapSpanContext(INVALID_SPAN_CONTEXT), { end: fail });
  for (const startSpan of [fail, () => unending]) {
    const events: string[] = [];
    const errors: unknown[] = [];
    const create = instrument(createLatchkey, {
      tracerProvider: { getTracer: () => ({ startSpan, startActiveSpan: fail }) },
      meterProvider: {
        getMeter: () => ({ createCounter: () => failing, createHistogram: () => failing }),
      } as never,
    });
    const onEvent = ({ type }: LatchkeyEvent) => events.push(type);
    const onError = (error: unknown) => errors.push(error);
    const latchkey = create({ store: memoryStore(), onEvent, onError });
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key } = await latchkey.createKey({ apiId, remaining: 1 });
    const codes = [];
    for (let time = 0; time < 2; time += 1) codes.push((await latchkey.verifyKey({ key })).code);
    expect(codes).toEqual(["VALID", "USAGE_EXCEEDED"]);
    await expect(latchkey.getApi({ apiId: "api_unknown" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    const verified = ["key.verified", "key.exhausted", "key.verified"];
    expect(events).toEqual(["api.created", "key.created", ...verified]);
    // Again after an event that has no metric.
    expect(errors).toEqual([broken, broken]);
  }
});
