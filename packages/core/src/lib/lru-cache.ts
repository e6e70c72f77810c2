/** Recently verified keys by hash. What it holds may be old; the store's charge tells. */
export interface KeyCache<Loaded> {
  get(hash: string): Loaded | undefined;
  set(hash: string, loaded: Loaded): void;
  delete(hash: string): void;
}

/**
 * Makes a bounded cache that forgets what was not used lately.
 *
 * Two generations: what is used moves to the young one; when that is full it becomes the old one, and what the
 * old one still held is forgotten. A hit in the young generation costs one map look-up and no bookkeeping, where
 * a list in exact order of use would cost two writes for every verification.
 *
 * @param maxKeys - Most keys held: a whole number >= 0; with 0 nothing is kept.
 */
export function createKeyCache<Loaded>(maxKeys: number): KeyCache<Loaded> {
  const generationSize = Math.ceil(maxKeys / 2);
  let young = new Map<string, Loaded>();
  let old = new Map<string, Loaded>();

  function keep(hash: string, loaded: Loaded): void {
    if (maxKeys === 0) return;
    if (young.size >= generationSize) {
      old = young;
      young = new Map();
    }
    young.set(hash, loaded);
  }

  return {
    get(hash) {
      const recent = young.get(hash);
      if (recent !== undefined) return recent;
      const older = old.get(hash);
      if (older !== undefined) {
        old.delete(hash);
        keep(hash, older);
      }
      return older;
    },
    set(hash, loaded) {
      old.delete(hash);
      keep(hash, loaded);
    },
    delete(hash) {
      young.delete(hash);
      old.delete(hash);
    },
  };
}
