/** Characters that terminals show in one column each, and nothing else. */
const NARROW = /^[\x20-\x7e]*$/;

/** Characters that add nothing to the width of the one before. */
const NO_WIDTH = /^[\p{Mn}\p{Me}]$/u;

/** Scripts and signs that are two columns wide in the Unicode standard (annex 11), and emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

/** How many columns of a terminal a text takes. It has no control characters. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** The length of the longest start of a text that is at most this wide; at least one character. */
export function fitting(text: string, width: number): number {
  let length = 0;
  let taken = 0;
  for (const character of text) {
    taken += widthOfCharacter(character);
    if (taken > width && length > 0) break;
    length += character.length;
  }
  return length;
}

/** A text with spaces after it, to this width. */
export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

function widthOfCharacter(character: string): number {
  if (NARROW.test(character)) return 1;
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
