import { defineRecord, type RecordHead } from "./record-type.js";

/** Texts of a key that have a meaning only for you. */
export interface KeyLabels {
  /** For people: 1 to 256 characters. */
  readonly name: string;
  /** Your own label, such as `live` or `test`: at most 256 characters. */
  readonly environment: string;
}

/** One of {@link KeyLabels}. */
export type KeyLabel = keyof KeyLabels;

export interface KeyLabelRule {
  /** Fewest and most characters. */
  readonly length: readonly [min: number, max: number];
  /** Its description in the documentation. */
  readonly about: string;
}

/**
 * Every label of a key. Inputs, records, the audit log, imports, exports, command-line options and SQL views are generated from these rows;
 * a new label is a row here and in the codec of a key.
 */
export const KEY_LABELS: { readonly [Label in KeyLabel]: KeyLabelRule } = {
  name: { length: [1, 256], about: "Name of the key." },
  environment: { length: [0, 256], about: "Your own label, such as `live` or `test`." },
};

const LABELS = Object.keys(KEY_LABELS) as readonly KeyLabel[];

/** Every label of a key, with its result of `textOf`. */
export function labelsOf<Value>(
  textOf: (label: KeyLabel, rule: KeyLabelRule) => Value,
): Record<KeyLabel, Value> {
  const labels = {} as Record<KeyLabel, Value>;
  for (const label of LABELS) labels[label] = textOf(label, KEY_LABELS[label]);
  return labels;
}

/** A tag that verifications are counted for; its id is the tag. Copies include its counts. */
export type TagRecord = RecordHead;

/** Tags: found by id, which is the tag. */
export const tagType = defineRecord<TagRecord>({
  kind: "tag",
  write: () => ({}),
  read: (_body, { id, workspaceId }) => ({ id, workspaceId }),
});
