import type { Group } from "./contents.js";
import { type Page, pathOf } from "./pages.js";

/**
 * The file `llms.txt`: an index of the site for programs, with a link to the Markdown of each page.
 *
 * @see https://llmstxt.org
 */
export function llmsTxt(
  groups: readonly Group[],
  pages: readonly Page[],
  reference: readonly Page[],
): string {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const sections = groups.map(({ title, entries, hasHttpReference = false }) => [
    `## ${title}`,
    "",
    ...entries.map(({ file, title: shown }) => lineOf(byPath.get(pathOf(file)), shown)),
    ...(hasHttpReference ? reference : []).map((page) => lineOf(page)),
    "",
  ]);
  return [
    "# latchkey",
    "",
    "> Issue, verify and manage API keys inside your own Node server: a library, not another service to run.",
    "",
    ...sections.flat(),
  ].join("\n");
}

function lineOf(page: Page | undefined, shown?: string): string {
  if (page === undefined) throw new Error("a page of the contents is not on the site");
  return `- [${shown ?? page.title}](${page.path}): ${page.description}`;
}
