export { describeInBrowser, type OpenPage, type Watched } from "./browser.js";
