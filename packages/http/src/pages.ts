export { askHost } from "./auth/authenticate.js";
export { readJsonObject } from "./pages/json-body.js";
export {
  type PageListener,
  toExpress,
  toFastify,
  toNode,
} from "./pages/node-bridge.js";
export {
  type PageSource,
  type PageWords,
  pageWithoutSlash,
  type SendPageFile,
  servePage,
} from "./pages/page-files.js";
export { isFromOwnPage, refusalOf } from "./pages/refusals.js";
export { jsonResponse, refuse, refuseMethod } from "./pages/responses.js";
