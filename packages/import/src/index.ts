export {
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportTextOptions,
  exportHeader,
  exportText,
} from "./export-format.js";
export {
  type ExportOptions,
  type ExportOrigin,
  type ExportPage,
  exportKeys,
} from "./export-keys.js";
export type { ExportedKey } from "./exported-key.js";
export { formatReport } from "./format-report.js";
export { type ImportOptions, type ImportTarget, importKeys } from "./import-keys.js";
export type { ColumnTarget, KeyMap } from "./key-map.js";
export { openSource, SOURCES, type SourceKind, type SourceOptions } from "./open-source.js";
export type { InstantUnit } from "./read-value.js";
export type { ImportReport, Reason, RowOutcome, RowReport } from "./report.js";
export type { IdentitySettings, ImportRow, ImportSource, RowIssue } from "./row.js";
