import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { GROUPS, HOME, UNLISTED_FOLDERS } from "./contents.js";
import { type LinkTargets, withLinksOfSite } from "./links.js";

/** A page of the site. */
export interface Page {
  /** Its file among the pages of the site, such as `recipes/plans.md`. */
  readonly path: string;
  readonly title: string;
  /** Its description: the first sentence. */
  readonly description: string;
  /** Markdown, with links as they are on the site. */
  readonly text: string;
}

/** The parts of the site. */
export interface Site {
  readonly pages: readonly Page[];
  /** Pictures, by their file in the repository, and their places on the site. */
  readonly pictures: ReadonlyMap<string, string>;
}

/**
 * Reads the pages of the site from the repository.
 *
 * @param repository - Its folder.
 */
export function readSite(repository: string): Site {
  const files = [
    HOME,
    ...GROUPS.flatMap(({ entries }) => entries.map(({ file }) => file)),
    ...UNLISTED_FOLDERS.flatMap((folder) => markdownIn(repository, folder)),
    ...foldersIn(repository, "examples")
      .map((name) => `examples/${name}/README.md`)
      .filter((file) => statSync(join(repository, file), { throwIfNoEntry: false })?.isFile()),
  ];
  const paths = new Map(files.map((file) => [file, pathOf(file)]));
  const pictures = new Map<string, string>();
  const targets: LinkTargets = {
    pageOf: (file) => paths.get(file),
    kindOf: (path) => {
      const found = statSync(join(repository, path), { throwIfNoEntry: false });
      return found && (found.isDirectory() ? "folder" : "file");
    },
    pictureOf: (file) => {
      const path = `pictures/${file.replaceAll("/", "-")}`;
      pictures.set(file, path);
      return path;
    },
  };
  const pages = [...paths].map(([file, path]) => {
    const source = readFileSync(join(repository, file), "utf8");
    return {
      path,
      title: titleOf(source) ?? "latchkey",
      description: firstSentenceOf(source),
      text: withLinksOfSite(source, file, path, targets),
    };
  });
  return { pages, pictures };
}

/** The place of a repository file on the site. */
export function pathOf(file: string): string {
  if (file === HOME) return "index.md";
  return file
    .replace(/^docs\//, "")
    .replace(/\/decisions\/README\.md$/, "/decisions/index.md")
    .replace(/\/README\.md$/, ".md");
}

function titleOf(text: string): string | undefined {
  return /^# (.+)$/m.exec(text)?.[1];
}

/** The first sentence of the first paragraph, without formatting. */
export function firstSentenceOf(text: string): string {
  const paragraph = text
    .replace(/^---\n.*?\n---\n/s, "")
    .split(/\n{2,}/)
    .find((part) => /^[\w`*"[(]/.test(part));
  const plain = (paragraph ?? "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*>]/g, "")
    .replaceAll(/\s+/g, " ");
  return (/^.*?[.:?!](?= |$)/.exec(plain)?.[0] ?? plain).replace(/:$/, ".");
}

function markdownIn(repository: string, folder: string): readonly string[] {
  return readdirSync(join(repository, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => posix.join(folder, name));
}

function foldersIn(repository: string, folder: string): readonly string[] {
  return readdirSync(join(repository, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
