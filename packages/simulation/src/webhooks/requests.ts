import { EventEmitter } from "node:events";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";

/** What a request that is sent asks of the world. */
export interface SentRequest {
  /** Name of the host that it is for. */
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Answers with a status. */
  readonly answer: (status: number) => void;
  /** Closes the connection without an answer. */
  readonly reset: () => void;
}

/** The world that gets the requests; null: none was entered. */
let receive: ((request: SentRequest) => void) | null = null;

/** Connects requests to a world. */
export function receiveWith(receiver: (request: SentRequest) => void): void {
  receive = receiver;
}

/** The part of a request of `node:http` that webhooks use. */
class SimulatedRequest extends EventEmitter {
  readonly #options: http.RequestOptions;
  #isOver = false;

  constructor(options: http.RequestOptions) {
    super();
    this.#options = options;
  }

  end(): void {
    const { hostname, headers } = this.#options;
    receive?.({
      host: hostname ?? "",
      headers: headers as Readonly<Record<string, string>>,
      answer: (statusCode) => {
        if (this.#isOver) return;
        this.emit("response", Object.assign(new EventEmitter(), { statusCode, headers: {} }));
        this.destroy();
      },
      reset: () => this.destroy(Object.assign(new Error("reset"), { code: "ECONNRESET" })),
    });
  }

  destroy(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    queueMicrotask(() => {
      if (error !== undefined) this.emit("error", error);
      this.emit("close");
    });
  }
}

/** Replaces the requests of `node:http` and `node:https`. */
export function installRequests(): void {
  const request = (options: http.RequestOptions) => new SimulatedRequest(options);
  Object.assign(http, { request });
  Object.assign(https, { request });
  syncBuiltinESMExports();
}
