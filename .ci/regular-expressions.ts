import { parseSync } from "oxc-parser";
import type { SourceFile } from "./sources.js";

/** A regular expression, and the file that contains it. */
export interface FoundExpression {
  readonly file: string;
  readonly expression: RegExp;
}

/** The parts of a syntax tree node that are used here. */
interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly Node[];
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
}

/** Stands for a value known only at run time. It works as a number and as text. */
const UNKNOWN = "8";

/** Every expression in a file: literals, and those made from a string or a template. */
export function expressionsIn({
  path,
  text,
}: Pick<SourceFile, "path" | "text">): FoundExpression[] {
  const found: FoundExpression[] = [];
  const walk = (node: Node): void => {
    const expression = expressionOf(node);
    if (expression !== null) found.push({ file: path, expression });
    for (const child of Object.values(node)) {
      const children = Array.isArray(child) ? child : [child];
      for (const one of children) if (typeof one?.type === "string") walk(one);
    }
  };
  walk(parseSync(path, text).program as unknown as Node);
  return found;
}

function expressionOf({ type, regex, callee, arguments: args = [] }: Node): RegExp | null {
  if (regex !== undefined) return new RegExp(regex.pattern, regex.flags);
  if (type !== "NewExpression" || callee?.name !== "RegExp") return null;
  const [pattern, flags] = args.map(textOf);
  return typeof pattern === "string" ? new RegExp(pattern, flags ?? "") : null;
}

function textOf({ type, value, quasis }: Node): string | null {
  if (type === "TemplateLiteral")
    return (quasis ?? []).map((part) => part.value.cooked).join(UNKNOWN);
  return type === "Literal" && typeof value === "string" ? value : null;
}

/** Whether a part of an expression repeats without a bound. Without such a part, no text takes long. */
export function isUnbounded({ source }: RegExp): boolean {
  return /[*+]|\{\d+,\}/.test(source.replaceAll(/\\./g, ""));
}

/**
 * Time of an expression on its worst text, as a multiple of the time of looking at each character once: a few for a linear expression,
 * thousands for one that backtracks over a text of this length.
 *
 * @param length - Characters of each text.
 * @param enough - Stops once the factor is greater.
 */
export function slowness(expression: RegExp, length: number, enough: number): number {
  const text = "a".repeat(length);
  // The minimum of many: a time made longer by a busy machine would hide a slow expression.
  const looks = Array.from({ length: 100 }, () => durationOf(() => countOf(text)));
  const linear = Math.max(SMALLEST_MS, Math.min(...looks));
  let worst = 0;
  for (const text of hostileTexts(expression, length)) {
    const take = () => durationOf(() => text.replace(expression, "")) / linear;
    let factor = take();
    // Repeated, because a busy machine can make a single measurement long.
    for (let round = 0; factor > enough && round < 2; round += 1) factor = Math.min(factor, take());
    worst = Math.max(worst, factor);
    if (worst > enough) return worst;
  }
  return worst;
}

/**
 * Texts with a long run of each character of the expression, after the expression's beginning, and before an end that it does not match.
 */
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

/** Shorter times cannot be measured. */
const SMALLEST_MS = 0.02;

function countOf(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 64) count += 1;
  return count;
}
