import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request that a receiver got. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Type of the event. */
  readonly type: string;
  readonly eventId: string;
  /** Id of the key or other object that the event is about. */
  readonly about: string;
}

/** Answers a request. */
export type Answer = (response: ServerResponse, received: Received) => void;

/** A receiver of webhooks on its own port, for the current test. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the answer to all further requests. */
  answerWith(answer: Answer | number): void;
}

/** Starts a receiver that answers 204. */
export async function startReceiver(answer: Answer | number = 204): Promise<Receiver> {
  let answerNow = asAnswer(answer);
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const one = await read(request);
    received.push(one);
    answerNow(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    answerWith: (next) => {
      answerNow = asAnswer(next);
    },
  };
}

function asAnswer(answer: Answer | number): Answer {
  if (typeof answer === "function") return answer;
  return (response) => response.writeHead(answer).end();
}

async function read(request: IncomingMessage): Promise<Received> {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { type, data } = JSON.parse(body) as {
    readonly type: string;
    readonly data: { readonly id: string; readonly keyId?: string; readonly resourceId: string };
  };
  return {
    path: request.url ?? "",
    headers: request.headers as Record<string, string>,
    body,
    type,
    eventId: data.id,
    about: data.keyId ?? data.resourceId,
  };
}
