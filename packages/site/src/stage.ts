import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openApiDocument } from "@latchkey/http";
import { GROUPS } from "./contents.js";
import { llmsTxt } from "./for-machines.js";
import { httpReference } from "./http-reference.js";
import { type Page, pathOf, readSite } from "./pages.js";

/** The sidebar, in the form that VitePress takes. */
export interface SidebarGroup {
  readonly text: string;
  readonly collapsed: boolean;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/**
 * Writes all pages of the site into a folder, from which VitePress builds HTML, and each once more, unchanged, into `public`,
 * with `llms.txt`: VitePress copies that folder.
 *
 * @param folder - Emptied first.
 * @param repository - Folder of the repository.
 */
export function stageSite(folder: string, repository: string): readonly SidebarGroup[] {
  const { pages, pictures } = readSite(repository);
  const reference = httpReference(openApiDocument());
  rmSync(folder, { recursive: true, force: true });
  for (const page of [...pages, ...reference]) {
    write(join(folder, page.path), withDescription(page));
    write(join(folder, "public", page.path), page.text);
  }
  for (const [file, path] of pictures) {
    for (const parent of [folder, join(folder, "public")])
      cpSync(join(repository, file), join(parent, path), { recursive: true });
  }
  write(join(folder, "public", "llms.txt"), llmsTxt(GROUPS, pages, reference));
  const titles = new Map(pages.map(({ path, title }) => [path, title]));
  return GROUPS.map(({ title, entries, hasHttpReference = false }, index) => ({
    text: title,
    collapsed: index > 1,
    items: [
      ...entries.map(({ file, title: shown }) => {
        const path = pathOf(file);
        return { text: shown ?? titles.get(path) ?? path, link: addressOf(path) };
      }),
      ...(hasHttpReference ? reference : []).map((page) => ({
        text: page.title.replace("HTTP: ", ""),
        link: addressOf(page.path),
      })),
    ],
  }));
}

/** The folder of the repository. */
export const REPOSITORY: string = fileURLToPath(new URL("../../..", import.meta.url));

function addressOf(path: string): string {
  return `/${path.replace(/(?:(?<=^|\/)index)?\.md$/, "")}`;
}

/** The page with its description first, for `<meta name="description">`; the home page has its own front matter. */
function withDescription({ text, description }: Page): string {
  if (text.startsWith("---\n")) return text;
  return `---\ndescription: ${JSON.stringify(description)}\n---\n\n${text}`;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
