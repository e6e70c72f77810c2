export type { PublicErrorCode } from "./answer.js";
export type { Authenticate, HostCaller } from "./authenticate.js";
export { createHandler, type Handler } from "./handler.js";
export { type NodeListener, toNodeListener } from "./node-listener.js";
export { type OpenApiDocument, type OpenApiOptions, openApiDocument } from "./openapi/document.js";
export type { HandlerOptions } from "./options.js";
