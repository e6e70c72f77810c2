export { jsonOf, listen } from "./fixture.js";
export { failingStore, proxyTo } from "./mounted.js";
export { watchFocus, watchShifts } from "./watch-page.js";
