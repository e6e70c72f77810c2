/** What logs write instead of the rest of a secret. */
const MASKED = /…|\.{3}|\*/;

/** The key in a pasted text, without what a header or a log puts around it. */
export function pastedKey(text: string): string {
  return text
    .trim()
    .replace(/^(?:authorization|x-api-key) *: */i, "")
    .replace(/^bearer +/i, "")
    .replace(/^(["'`])(.*)\1$/, "$2");
}

/** Whether it can only be the first characters of a key, as a log shows them. */
export const isMasked = (text: string): boolean => MASKED.test(text);

/** Whether it is the id of a key, an API or an owner. A key of latchkey with such a prefix is longer. */
export const isId = (text: string): boolean => /^(?:key|api|id)_[A-Za-z0-9]{1,26}$/.test(text);

/** Whether others may see the text: an id, or so little of a key that the rest cannot be guessed. */
export const isHarmless = (text: string): boolean =>
  isId(text) || keyStart(text) === text || isMasked(text);

/**
 * The first characters, to search keys by: a possible prefix and eight more. The store keeps only five characters after the prefix, and
 * the address contains this text, so more would be useless and unsafe.
 */
export const keyStart = (text: string): string =>
  /^(?:[\w-]{1,16}_)?.{0,8}/.exec(text.split(MASKED)[0] ?? "")?.[0] ?? "";
