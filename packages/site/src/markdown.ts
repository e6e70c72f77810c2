import type { MarkdownOptions } from "vitepress";

/** Ids of headings as the repository's host creates them, so that one link works in both places. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

/** Turns empty table headings into plain cells: a screen reader would otherwise announce an empty heading. */
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
