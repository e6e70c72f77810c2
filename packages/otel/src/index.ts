export { instrument } from "./instrument.js";
export type { TelemetryOptions } from "./options.js";
export { instrumentStore } from "./store.js";
