import { posix } from "node:path";

/** Where files of the repository are shown that are not pages of the site. */
const REPOSITORY_URL = "https://github.com/latchkey-js/latchkey";

/** What resolves the links of a page. */
export interface LinkTargets {
  /** The page of a file of the repository, such as `docs/stores.md`, if the site has one. */
  readonly pageOf: (file: string) => string | undefined;
  /** What a path of the repository is; undefined: nothing. */
  readonly kindOf: (path: string) => "file" | "folder" | undefined;
  /** Where a picture of the repository is on the site. */
  readonly pictureOf: (file: string) => string;
}

/**
 * What to find in the text of a page, from left to right: code, which stays as it is; a link or a picture, whose label may
 * contain code; and a URL in an HTML tag.
 */
const FOUND =
  /(?<code>^```.*?^```$|`[^`\n]+`)|(?<mark>!?)\[(?<label>(?:[^\][]|!?\[[^\]]*\](?:\([^)\s]*\))?)*)\]\((?<target>[^)\s]+)\)|\b(?<attribute>src|srcset|href)="(?<address>[^"]+)"/gms;

/**
 * The text of a page with the links of the site: to the site's own pages if there is one, otherwise to the file in the
 * repository. Code stays as it is.
 *
 * @param text - Markdown, as in `file`.
 * @param file - Path in the repository; relative links start from its folder.
 * @param page - Path of the page on the site; links are relative to its folder.
 * @throws Error if a link leads to nothing.
 */
export function withLinksOfSite(
  text: string,
  file: string,
  page: string,
  targets: LinkTargets,
): string {
  const fromPage = (target: string) => {
    const relative = posix.relative(posix.dirname(page), target);
    return relative.startsWith(".") ? relative : `./${relative}`;
  };
  const picture = (target: string) =>
    isElsewhere(target) ? target : fromPage(targets.pictureOf(inRepository(file, target)));
  const link = (target: string) => {
    if (isElsewhere(target) || target.startsWith("#")) return target;
    const [path = "", anchor] = target.split("#");
    const linked = inRepository(file, path);
    const found = targets.pageOf(linked) ?? targets.pageOf(posix.join(linked, "README.md"));
    if (found !== undefined) return `${fromPage(found)}${anchor === undefined ? "" : `#${anchor}`}`;
    const kind = targets.kindOf(linked);
    if (kind === undefined) throw new Error(`${file} links to ${target}, which does not exist`);
    return `${REPOSITORY_URL}/${kind === "folder" ? "tree" : "blob"}/main/${linked}`;
  };
  const replaced = (part: string): string =>
    part.replace(FOUND, (...found) => {
      const { code, mark, label, target, attribute, address } = found.at(-1) as Found;
      if (code !== undefined) return code;
      if (attribute !== undefined && address !== undefined)
        return `${attribute}="${attribute === "href" ? link(address) : picture(address)}"`;
      if (mark === "!") return `![${label}](${picture(target ?? "")})`;
      return `[${replaced(label ?? "")}](${link(target ?? "")})`;
    });
  return replaced(text);
}

type Found = Readonly<
  Partial<Record<"code" | "mark" | "label" | "target" | "attribute" | "address", string>>
>;

function isElsewhere(target: string): boolean {
  return /^[a-z]+:/.test(target);
}

function inRepository(file: string, target: string): string {
  return posix.join(posix.dirname(file), target).replace(/\/$/, "");
}
