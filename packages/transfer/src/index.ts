export { type CopyOptions, copy } from "./copy.js";
export { takeBack } from "./live/take-back.js";
export type { ProgressListener, TransferProgress } from "./progress.js";
export type { TransferReport } from "./report.js";
