export interface LruCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/**
 * Makes a bounded cache that drops what was not used recently. It has two generations: a hit in the young one costs one look-up, whereas an
 * exact order of use would cost two writes for every verification. So only half of it is certain to be what was used last.
 *
 * @param maxSize - 0 caches nothing.
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
