/** A copy with its own fields alone. What it does not have, it must not have from `Object.prototype` either, whatever somebody added there. */
export function withoutPrototype<Value extends object>(value: Value): Value {
  return Object.assign(Object.create(null) as object, value);
}
