import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { urlToHttpOptions } from "node:url";
import type { SpanMs } from "@latchkey/core";
import { mayConnect } from "./address.js";
import { checkedLookup, PrivateAddressError, type Resolve } from "./lookup.js";

/** Where a message is sent, and how. */
export interface Target {
  readonly url: URL;
  /** Ranges of addresses that are allowed although they are not public. */
  readonly allow: readonly string[];
  /** Deadline of the whole exchange. */
  readonly timeoutMs: SpanMs;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve | undefined;
}

/** The result of sending a message. */
export type PostOutcome =
  | { readonly kind: "taken" }
  | {
      readonly kind: "refused";
      /** An HTTP status, the code of a system error, or a word. Never text that the receiver wrote. */
      readonly failure: string;
      /** Whether the event must not be sent again. */
      readonly isFinal: boolean;
      /** How long the receiver asks the sender to wait. */
      readonly retryAfterMs: SpanMs;
    }
  /** The sender aborted it. */
  | { readonly kind: "stopped" };

/** Maximum bytes of the head of a response, and of its body. */
const MAX_ANSWER = 16 * 1024;

/** The longest pause that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

class TimeIsUpError extends Error {}
class StoppedError extends Error {}

/**
 * Sends a POST on a new connection. Redirects are not followed. Only the status of the response counts; up to 16 KiB of its body
 * are read, as a courtesy to the receiver, and ignored. Never rejects.
 */
export function post(
  { url, allow, timeoutMs, resolve }: Target,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  signal: AbortSignal,
): Promise<PostOutcome> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // Node connects to a literal address without a lookup.
  if (isIP(host) !== 0 && !mayConnect(host, allow))
    return Promise.resolve(refusedBecause("private-address"));
  if (signal.aborted) return Promise.resolve({ kind: "stopped" });
  return new Promise((settle) => {
    let outcome: PostOutcome | null = null;
    const body = Buffer.from(message.body);
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)({
      ...urlToHttpOptions(url),
      method: "POST",
      headers: { ...message.headers, "content-length": String(body.length) },
      agent: false,
      lookup: checkedLookup(allow, resolve),
      maxHeaderSize: MAX_ANSWER,
    });
    const timer = setTimeout(() => request.destroy(new TimeIsUpError()), timeoutMs);
    const stop = () => request.destroy(new StoppedError());
    signal.addEventListener("abort", stop, { once: true });
    request.on("response", (response) => {
      outcome = outcomeOf(response.statusCode ?? 0, response.headers["retry-after"]);
      let read = 0;
      response.on("data", (chunk: Buffer) => {
        read += chunk.length;
        if (read > MAX_ANSWER) request.destroy();
      });
      response.on("error", () => request.destroy());
    });
    request.on("error", (error) => {
      outcome ??= outcomeOfError(error);
    });
    request.on("close", () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      settle(outcome ?? refusedBecause("no-answer"));
    });
    request.end(body);
  });
}

function refusedBecause(failure: string): PostOutcome {
  return { kind: "refused", failure, isFinal: false, retryAfterMs: 0 };
}

function outcomeOf(status: number, retryAfter: string | undefined): PostOutcome {
  if (status >= 200 && status <= 299) return { kind: "taken" };
  const seconds = /^\d{1,9}$/.test(retryAfter ?? "") ? Number(retryAfter) : 0;
  return {
    kind: "refused",
    failure: String(status),
    isFinal: status === 410,
    retryAfterMs: Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS),
  };
}

function outcomeOfError(error: Error & { readonly code?: unknown }): PostOutcome {
  if (error instanceof StoppedError) return { kind: "stopped" };
  if (error instanceof TimeIsUpError) return refusedBecause("timeout");
  if (error instanceof PrivateAddressError) return refusedBecause("private-address");
  const isCode = typeof error.code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(error.code);
  return refusedBecause(isCode ? (error.code as string) : "unreachable");
}
