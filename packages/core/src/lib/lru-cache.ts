/** Values that were used lately, by key. */
export interface LruCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/**
 * Makes a bounded cache that forgets what was not used lately.
 *
 * Two generations: what is used moves to the young one; when that is full it becomes the old one, and what the
 * old one still held is forgotten. A hit in the young generation costs one map look-up and no bookkeeping, where
 * a list in exact order of use would cost two writes for every verification.
 *
 * @param maxSize - Most values: a whole number >= 0; 0 caches nothing.
 */
export function createLruCache<Value>(maxSize: number): LruCache<Value> {
  const generationSize = Math.ceil(maxSize / 2);
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();

  function keep(key: string, value: Value): void {
    if (maxSize === 0) return;
    if (young.size >= generationSize) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }

  return {
    get(key) {
      const recent = young.get(key);
      if (recent !== undefined) return recent;
      const older = old.get(key);
      if (older !== undefined) {
        old.delete(key);
        keep(key, older);
      }
      return older;
    },
    set(key, value) {
      old.delete(key);
      keep(key, value);
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
  };
}
