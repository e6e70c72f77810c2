import { readdirSync, readFileSync } from "node:fs";

/** A regular expression literal, and where it stands. */
export interface Literal {
  readonly file: string;
  readonly expression: RegExp;
}

/** A literal between slashes, where an expression can begin; a class may hold slashes. */
const LITERAL =
  /(?<=(?:[=(,:!&|?[]|return)\s*)\/(?![*/\s])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuvy]*)/g;

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g;

/** Every regular expression literal in the sources below a folder, without tests. */
export function literalsIn(folder: URL): readonly Literal[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(?:ts|js)$/.test(path))
    .filter((path) => !path.endsWith(".test.ts") && !/^(?:testing|swagger-ui)\//.test(path))
    .flatMap((file) => {
      const source = readFileSync(new URL(file, folder), "utf8").replaceAll(COMMENT, "");
      return [...source.matchAll(LITERAL)].map(([, pattern = "", flags]) => ({
        file,
        expression: new RegExp(pattern, flags),
      }));
    });
}

/**
 * How many times as long an expression takes as it takes to look at each character once, on the text that is worst for it:
 * a few for one that is linear, thousands for one that goes back over a text of this length.
 *
 * @param length - Characters of each text.
 * @param enough - Stops once the factor is greater.
 */
export function slowness(expression: RegExp, length: number, enough: number): number {
  const text = "a".repeat(length);
  // The least of several: one that a busy machine made long would hide an expression that is slow.
  const looks = Array.from({ length: 5 }, () => durationOf(() => countOf(text)));
  const linear = Math.max(SMALLEST_MS, Math.min(...looks));
  let worst = 0;
  for (const text of hostileTexts(expression, length)) {
    const take = () => durationOf(() => text.replace(expression, "")) / linear;
    let factor = take();
    // Again, since a busy machine makes a single one long.
    for (let round = 0; factor > enough && round < 2; round += 1) factor = Math.min(factor, take());
    worst = Math.max(worst, factor);
    if (worst > enough) return worst;
  }
  return worst;
}

/** Long runs of each character of the expression, behind what it begins with, and before what it does not end with. */
function* hostileTexts({ source }: RegExp, length: number): Generator<string> {
  const beginnings = ["", /^\^?((?:[\w ]|\\\/)*)/.exec(source)?.[1]?.replaceAll("\\", "") ?? ""];
  const characters = new Set([...'a0 =\n/.,:;-_"', ...source.replaceAll("\\", "")]);
  for (const beginning of new Set(beginnings))
    for (const character of characters)
      for (const end of ["", "\u0001", "!\n"])
        yield beginning + character.repeat(length - beginning.length - end.length) + end;
  for (const character of characters) yield `/${character}`.repeat(length / 2);
}

function durationOf(run: () => unknown): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}

/** Below this a clock says nothing. */
const SMALLEST_MS = 0.02;

function countOf(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 64) count += 1;
  return count;
}
