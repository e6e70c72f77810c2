import { type HandlerOptions, settingsOf } from "./options.js";
import { WebRequest } from "./request/web-request.js";
import { toWebResponse } from "./routing/http-response.js";
import { createService, type Service } from "./routing/service.js";

/** The HTTP API as a function. It never rejects. */
export type Handler = (request: Request) => Promise<Response>;

const services = new WeakMap<Handler, Service>();

/**
 * Creates the HTTP API of a latchkey: `/v1/<operation>` and `/v2/<operation>`, JSON in and out.
 *
 * A request is checked in this order, and the first failure is the response: path and method, authentication, size of the
 * body, its type and JSON, its fields, permission, existence, state. A caller who is not authenticated learns nothing about
 * any record.
 *
 * @throws TypeError naming the wrong option and its bound.
 */
export function createHandler(options: HandlerOptions): Handler {
  return handlerOf(createService(settingsOf(options)));
}

/** Connects a handler with its service, for the listener of node:http. */
export function handlerOf(service: Service): Handler {
  const handler: Handler = async (request) =>
    toWebResponse(await service.respond(new WebRequest(request)));
  services.set(handler, service);
  return handler;
}

/** The service behind a handler; undefined for a function that createHandler did not create. */
export function serviceOf(handler: Handler): Service | undefined {
  return services.get(handler);
}
