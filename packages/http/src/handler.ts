import { type HandlerOptions, settingsOf } from "./options.js";
import { WebRequest } from "./request/web-request.js";
import { toWebResponse } from "./routing/http-response.js";
import { createService, type Service } from "./routing/service.js";

/** The HTTP contract as a function. It never rejects. */
export type Handler = (request: Request) => Promise<Response>;

const services = new WeakMap<Handler, Service>();

/**
 * Makes the HTTP contract out of a latchkey: `/v1/<operation>`, JSON in and out.
 *
 * A request is judged in this order, the first failure answering: path and method, who asks, size of the body, its
 * type and JSON, its fields, permission, existence, state. Whoever is not known learns nothing about any record.
 *
 * @throws TypeError naming the option that is wrong and its bound.
 */
export function createHandler(options: HandlerOptions): Handler {
  const service = createService(settingsOf(options));
  const handler: Handler = async (request) =>
    toWebResponse(await service.answer(new WebRequest(request)));
  services.set(handler, service);
  return handler;
}

/** What a handler does before its answer becomes a Response; undefined for a function of someone else's. */
export function serviceOf(handler: Handler): Service | undefined {
  return services.get(handler);
}
