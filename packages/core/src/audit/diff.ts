import type { JsonValue } from "../lib/json.js";
import type { FieldChange } from "../records/audit-entry.js";

/** Fields of a record in the words of the HTTP contract. Undefined and null both mean that a field has no value. */
export type AuditFields = Readonly<Record<string, JsonValue | undefined>>;

/**
 * What differs between two states of a record: the fields that have a value in the later one, in its order, then those that have
 * none any more. Equal values are none.
 */
export function fieldChanges(before: AuditFields, after: AuditFields): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field of Object.keys(after)) {
    const [was, is] = [before[field] ?? null, after[field] ?? null];
    if (is === null || isSameJson(was, is)) continue;
    changes.push(was === null ? { field, after: is } : { field, before: was, after: is });
  }
  for (const field of Object.keys(before)) {
    const was = before[field] ?? null;
    if (was !== null && (after[field] ?? null) === null) changes.push({ field, before: was });
  }
  return changes;
}

/** Whether two JSON values are equal. The order of an object's fields does not count, that of a list does. */
function isSameJson(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every(
    (name) => Object.hasOwn(other, name) && isSameJson(member(one, name), member(other, name)),
  );
}

function member(value: object, name: string): JsonValue {
  return (value as Record<string, JsonValue>)[name] as JsonValue;
}
