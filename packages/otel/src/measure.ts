import { LatchkeyError } from "@latchkey/core";
import {
  type Attributes,
  context,
  type Histogram,
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
 * synchronous. Only the type of an error is recorded, never its message.
 */
export function measure(measurement: Measurement, run: () => unknown): unknown {
  const { tracer, duration, name, labels, attributes, onAnswer } = measurement;
  const span = tracer.startSpan(name, { attributes });
  const startedAt = performance.now();
  const answered = (answer: unknown): void => {
    duration().record((performance.now() - startedAt) / 1_000, labels);
    span.setAttributes(onAnswer(answer));
    span.end();
  };
  const failed = (error: unknown): void => {
    const type = { [ATTRIBUTE.errorType]: errorTypeOf(error) };
    duration().record((performance.now() - startedAt) / 1_000, { ...labels, ...type });
    span.setAttributes(type);
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
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
