import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "@latchkey/core";
import { redact } from "../secrets/redact.js";

/** Forms of the access log. */
export const LOG_FORMATS = ["json", "pretty", "none"] as const;

/** One of {@link LOG_FORMATS}. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** One request in the access log. Never a query, a header or a body. */
interface Access {
  /** ISO date of the response. */
  readonly time: string;
  readonly requestId?: string;
  readonly method: string;
  /** Without the query; a secret in it is shortened. */
  readonly path: string;
  /** Absent if the client disconnected before the response. */
  readonly status?: number;
  /** From the head of the request to the end of the response. */
  readonly ms: number;
  readonly remote: string;
}

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/** The same listener, with a log line for each request when it is answered or aborted. */
export function withAccessLog(
  listener: Listener,
  format: LogFormat,
  print: (line: string) => void,
  now: Clock,
): Listener {
  if (format === "none") return listener;
  const write = format === "json" ? (access: Access) => JSON.stringify(access) : prettyLine;
  return (incoming, outgoing) => {
    const startedAt = now();
    const requestIdOf = noteRequestId(outgoing);
    outgoing.once("close", () => {
      const requestId = requestIdOf();
      print(write({ ...requestId, ...accessOf(incoming, outgoing, startedAt, now()) }));
    });
    return listener(incoming, outgoing);
  };
}

/** Headers that are passed to `writeHead` are sent directly, and cannot be read afterwards. */
function noteRequestId(outgoing: ServerResponse): () => Pick<Access, "requestId"> {
  let written: unknown;
  const writeHead = outgoing.writeHead.bind(outgoing) as (...args: unknown[]) => ServerResponse;
  outgoing.writeHead = (...args: unknown[]) => {
    const headers = args.at(-1);
    if (typeof headers === "object" && headers !== null)
      written = (headers as Readonly<Record<string, unknown>>)["x-request-id"];
    return writeHead(...args);
  };
  return () => (typeof written === "string" ? { requestId: written } : {});
}

function accessOf(
  { method = "", url = "", socket }: IncomingMessage,
  outgoing: ServerResponse,
  startedAt: number,
  endedAt: number,
): Access {
  return {
    time: new Date(endedAt).toISOString(),
    method,
    path: redact(url.replace(/[?#].*$/s, "")),
    ...(outgoing.writableEnded && { status: outgoing.statusCode }),
    ms: endedAt - startedAt,
    remote: socket.remoteAddress ?? "",
  };
}

function prettyLine({ time, method, path, status, ms, remote }: Access): string {
  return `${time} ${status ?? "gone"} ${method.padEnd(4)} ${path} ${ms} ms ${remote}`;
}
