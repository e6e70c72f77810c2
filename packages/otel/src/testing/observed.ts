import { createLatchkey, type KeyStore, type LatchkeyOptions } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { context, SpanStatusCode } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { DataPointType, MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type Sampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { onTestFinished } from "vitest";
import { instrument } from "../instrument.js";
import type { TelemetryOptions } from "../options.js";

/** One series of a metric: how often something was counted or measured, and under which labels. */
export interface Series {
  readonly count: number;
  readonly labels: Readonly<Record<string, unknown>>;
}

class TestReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** Providers that keep spans and metrics in memory. Until the test is over, spans have their parents. */
export function openTelemetry(sampler?: Sampler) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = new InMemorySpanExporter();
  const reader = new TestReader();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler !== undefined && { sampler }),
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  onTestFinished(async () => {
    context.disable();
    await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]);
  });
  return {
    providers: { tracerProvider, meterProvider },
    /** Finished spans, in the order in which they ended, with the names of their parents. */
    spans: () => {
      const finished = exporter.getFinishedSpans();
      const nameOf = new Map(finished.map((span) => [span.spanContext().spanId, span.name]));
      return finished.map(({ name, attributes, status, parentSpanContext }) => ({
        name,
        attributes,
        isError: status.code === SpanStatusCode.ERROR,
        parent: nameOf.get(parentSpanContext?.spanId ?? "") ?? null,
      }));
    },
    /** The series of a metric, and its unit. */
    metric: async (name: string) => {
      const { resourceMetrics } = await reader.collect();
      const found = resourceMetrics.scopeMetrics
        .flatMap(({ metrics }) => metrics)
        .find(({ descriptor }) => descriptor.name === name);
      if (found === undefined) return { unit: null, series: [] as Series[] };
      const isHistogram = found.dataPointType === DataPointType.HISTOGRAM;
      const series: Series[] = found.dataPoints.map(({ value, attributes }) => ({
        count: isHistogram ? (value as { readonly count: number }).count : (value as number),
        labels: attributes,
      }));
      return { unit: found.descriptor.unit, series };
    },
    /** Everything that was exported, as text. */
    dump: async () =>
      JSON.stringify([
        exporter
          .getFinishedSpans()
          .map(({ name, attributes, status, events }) => [name, attributes, status, events]),
        (await reader.collect()).resourceMetrics.scopeMetrics,
      ]),
  };
}

/** An instrumented latchkey over an empty store, with an API and a key. */
export async function observed({
  telemetry = {},
  store = memoryStore(),
  ...options
}: { telemetry?: TelemetryOptions; store?: KeyStore } & Partial<LatchkeyOptions> = {}) {
  const opened = openTelemetry();
  const create = instrument(createLatchkey, { ...opened.providers, ...telemetry });
  const latchkey = create({ store, clock: () => 1_000, ...options });
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const { key, keyId } = await latchkey.createKey({ apiId });
  return { ...opened, create, latchkey, apiId, key, keyId };
}
