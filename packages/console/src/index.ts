export type { FetchConsole } from "./console.js";
export { createConsole } from "./fetch.js";
export { createLinkConsole, type LinkConsole, type LinkConsoleOptions } from "./link-console.js";
export type { NodeConsole } from "./node.js";
export type { ConsoleOptions, Finding } from "./options.js";
