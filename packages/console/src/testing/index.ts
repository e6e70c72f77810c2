export {
  describeInBrowser,
  type OpenPage,
  type Watched,
  watchFocus,
  watchShifts,
} from "./browser.js";
export { jsonOf, listen } from "./fixture.js";
export { failingStore, proxyTo } from "./mounted.js";
