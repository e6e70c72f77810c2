export { type BackupOptions, type BackupReport, backup } from "./backup.js";
export { type CopyOptions, copy } from "./copy.js";
export type { Decryption, Encryption } from "./file/encryption.js";
export { type TakeBackOptions, takeBack } from "./live/take-back.js";
export type { ProgressListener, TransferProgress } from "./progress.js";
export type { TransferReport } from "./report.js";
export { type RestoreOptions, restore } from "./restore.js";
