export { createPortal } from "./fetch.js";
export type { FindCustomer, PortalOptions } from "./options.js";
export type { FetchPortal } from "./portal.js";
export { ENGLISH, GERMAN, type Texts } from "./texts.js";
