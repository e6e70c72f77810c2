export type { Authenticate, HostCaller } from "./auth/authenticate.js";
export { createHandler, type Handler } from "./handler.js";
export { createLeakHandler } from "./leaks/leak-handler.js";
export type { LeakHandlerOptions, LeakPolicyOption, LeakPublicKeys } from "./leaks/options.js";
export { type OpenApiDocument, type OpenApiOptions, openApiDocument } from "./openapi/document.js";
export type { HandlerOptions } from "./options.js";
export type { PublicErrorCode } from "./routing/http-response.js";
export { type NodeListener, toNodeListener } from "./routing/node-listener.js";
