import { LatchkeyError } from "@latchkey/core";
import {
  type Attributes,
  context,
  diag,
  type Histogram,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { ATTRIBUTE } from "./names.js";

/** How a call is measured. */
export interface Measurement {
  readonly tracer: Tracer;
  readonly duration: () => Histogram;
  /** Name of the span: one of a few. */
  readonly name: string;
  /** Labels of the metric. */
  readonly labels: Attributes;
  /** Attributes of the span, known before the call. */
  readonly attributes: Attributes;
  /** Called with the result. Returns further attributes of the span. */
  readonly onAnswer: (answer: unknown) => Attributes;
}

/**
 * Runs a call inside a span, and records how long it took. Its result or error is passed on unchanged; a result that is not a promise stays
 * synchronous. Only the type of an error is recorded, never its message. A provider that throws changes nothing: OpenTelemetry's own log
 * gets its error.
 */
export function measure(measurement: Measurement, run: () => unknown): unknown {
  const { tracer, duration, name, labels, attributes, onAnswer } = measurement;
  const span =
    quietly(() => tracer.startSpan(name, { attributes })) ??
    trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  const startedAt = performance.now();
  const record = (more: Attributes = {}): void => {
    const seconds = (performance.now() - startedAt) / 1_000;
    quietly(() => duration().record(seconds, { ...labels, ...more }));
  };
  const answered = (answer: unknown): void => {
    record();
    quietly(() => span.setAttributes(onAnswer(answer)));
    quietly(() => span.end());
  };
  const failed = (error: unknown): void => {
    const type = { [ATTRIBUTE.errorType]: errorTypeOf(error) };
    record(type);
    quietly(() => span.setAttributes(type).setStatus({ code: SpanStatusCode.ERROR }));
    quietly(() => span.end());
  };
  try {
    const answer = runInside(span, run);
    if (!isPromise(answer)) {
      answered(answer);
      return answer;
    }
    return answer.then(
      (value) => {
        answered(value);
        return value;
      },
      (error: unknown) => {
        failed(error);
        throw error;
      },
    );
  } catch (error) {
    failed(error);
    throw error;
  }
}

/** Runs a part of the telemetry. @returns Its result; undefined if it threw. */
function quietly<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch (error) {
    diag.error("@latchkey/otel: a provider threw", error);
    return undefined;
  }
}

/**
 * The `error.type` of an error: its code, or `_OTHER`, so that the number of values is bounded. Its message may contain more than a label
 * should.
 */
function errorTypeOf(error: unknown): string {
  return error instanceof LatchkeyError ? error.code : "_OTHER";
}

/** Runs a call with the span as its parent. If nobody collects spans, it runs without one: a context would cost more than the call. */
function runInside(span: Span, run: () => unknown): unknown {
  if (!isSpanContextValid(span.spanContext())) return run();
  return context.with(trace.setSpan(context.active(), span), run);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value;
}
