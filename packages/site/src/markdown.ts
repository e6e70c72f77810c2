import type { MarkdownOptions } from "vitepress";

/** Addresses of headings as the repository's host makes them, so that one link is right in both places. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

/** Makes plain cells of table headings without a text: a screen reader would announce a heading that says nothing. */
export const withoutEmptyHeadings: NonNullable<MarkdownOptions["config"]> = (md) => {
  md.core.ruler.push("plain-cells", ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type !== "th_open" || tokens[index + 1]?.content !== "") continue;
      token.tag = "td";
      const closing = tokens[index + 2];
      if (closing !== undefined) closing.tag = "td";
    }
  });
};
