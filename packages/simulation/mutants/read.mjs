// Reads mutants: changes of production code that the simulation must detect. A file of mutants looks like this:
//
//   # what the change does wrong
//   mutant name-of-the-mutant
//   in core
//   - the original text
//   + the replacement
//
// `-` and `+` may have several lines each, and a mutant several such pairs. White space and line breaks do not count, so a mutant survives
// most refactorings, even one that moves its text to another file. The text must occur in exactly one place.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const PACKAGES = fileURLToPath(new URL("../../", import.meta.url));

/**
 * @typedef {{ readonly from: string, readonly to: string }} Edit
 * @typedef {{ readonly name: string, readonly what: string, readonly package: string, readonly edits: readonly Edit[] }} Mutant
 */

/** All mutants, in the order of their files. @returns {readonly Mutant[]} */
export function readMutants() {
  const files = readdirSync(HERE).filter((name) => name.endsWith(".mutants"));
  return files.sort().flatMap((name) => parse(readFileSync(join(HERE, name), "utf8"), name));
}

/** @param {string} text @param {string} file @returns {Mutant[]} */
function parse(text, file) {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== "")
    .map((block) => {
      const lines = block.trim().split("\n");
      /** @param {string} start */
      const after = (start) => lines.find((line) => line.startsWith(start))?.slice(start.length);
      const [what, name, inside] = [after("# "), after("mutant "), after("in ")];
      const edits = editsOf(lines.filter((line) => /^[-+]/.test(line)));
      if (!what || !name || !inside || edits.length === 0)
        throw new Error(`${file}: a mutant is incomplete:\n${block}`);
      return { name, what, package: inside, edits };
    });
}

/** @param {readonly string[]} lines @returns {readonly Edit[]} */
function editsOf(lines) {
  /** @type {{ from: string, to: string }[]} */
  const edits = [];
  let before = "+";
  for (const line of lines) {
    const sign = line.charAt(0);
    if (sign === "-" && before === "+") edits.push({ from: "", to: "" });
    const edit = edits.at(-1);
    if (edit === undefined) throw new Error(`a line to add before one to remove: ${line}`);
    if (sign === "-") edit.from += `${line.slice(1)}\n`;
    else edit.to += `${line.slice(1)}\n`;
    before = sign;
  }
  return edits;
}

/**
 * The sources that a mutant changes, by path, with its changes applied.
 *
 * @param {Mutant} mutant
 * @returns {ReadonlyMap<string, string>}
 * @throws {Error} If a text does not occur in exactly one place: then the mutant must be rewritten.
 */
export function mutated({ name, package: inside, edits }) {
  const sources = sourcesOf(inside);
  /** @type {Map<string, string>} */
  const changed = new Map();
  for (const { from, to } of edits) {
    const pattern = patternOf(from);
    const places = [...sources].flatMap(([path, code]) =>
      [...(changed.get(path) ?? code).matchAll(pattern)].map(({ index, 0: text }) => ({
        path,
        index,
        text,
      })),
    );
    const [place] = places;
    if (place === undefined || places.length > 1)
      throw new Error(`mutant ${name}: in ${places.length} places of ${inside} is:\n${from}`);
    const { path, index, text } = place;
    const code = changed.get(path) ?? /** @type {string} */ (sources.get(path));
    changed.set(path, code.slice(0, index) + to + code.slice(index + text.length));
  }
  return changed;
}

/** @type {Map<string, ReadonlyMap<string, string>>} */
const known = new Map();

/** @param {string} inside @returns {ReadonlyMap<string, string>} */
function sourcesOf(inside) {
  const folder = join(PACKAGES, inside, "src");
  const names = known.has(inside) ? [] : readdirSync(folder, { recursive: true, encoding: "utf8" });
  const paths = names
    .filter((name) => name.endsWith(".ts") && !/\.test\.ts$|^testing\//.test(name))
    .map((name) => join(folder, name));
  const sources =
    known.get(inside) ?? new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
  known.set(inside, sources);
  return sources;
}

/** @param {string} text */
function patternOf(text) {
  const tokens = text.match(/\w+|[^\w\s]/g) ?? [];
  return new RegExp(tokens.map((token) => token.replace(/[^\w]/g, "\\$&")).join("\\s*"), "g");
}
