import { type PermissionQuery, permissionQueryField } from "@latchkey/core";
import { z } from "zod";

const TOKEN = /\s*([()]|[A-Za-z0-9_.:*-]+)\s*/y;
const MALFORMED =
  'must be permissions joined by AND and OR, like "docs.read AND (docs.write OR team.admin)"';
const MAX_LENGTH = 1_000;
const TOO_LONG = `must be a string of 1 to ${MAX_LENGTH} characters`;

/**
 * Reads a permission query: names joined by `AND` and `OR`, in upper or lower case, with parentheses. `AND` binds more tightly.
 *
 * @throws SyntaxError if it is malformed. The message quotes nothing of it.
 */
export function parsePermissionQuery(text: string): PermissionQuery {
  const tokens = tokensOf(text);
  let at = 0;

  const isNext = (word: string) => tokens[at]?.toUpperCase() === word;

  function expect(isMet: boolean): void {
    if (!isMet) throw new SyntaxError(MALFORMED);
    at += 1;
  }

  function joined(word: "AND" | "OR", member: () => PermissionQuery): PermissionQuery {
    const first = member();
    const members = [first];
    while (isNext(word)) {
      at += 1;
      members.push(member());
    }
    if (members.length === 1) return first;
    return word === "AND" ? { and: members } : { or: members };
  }

  const either = () => joined("OR", both);
  const both = () => joined("AND", single);

  function single(): PermissionQuery {
    const token = tokens[at];
    if (token !== "(") {
      expect(token !== undefined && token !== ")" && !isNext("AND") && !isNext("OR"));
      return token as string;
    }
    at += 1;
    const inner = either();
    expect(tokens[at] === ")");
    return inner;
  }

  const query = either();
  if (at < tokens.length) throw new SyntaxError(MALFORMED);
  return query;
}

function tokensOf(text: string): readonly string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw new SyntaxError(MALFORMED);
    tokens.push(token);
  }
  return tokens;
}

/** A permission query as text, within the bounds of a query of v1. */
export const permissionQueryText = z
  .string({ error: TOO_LONG })
  .min(1, { error: TOO_LONG })
  .max(MAX_LENGTH, { error: TOO_LONG })
  .superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  })
  .describe(
    "What the key must be permitted: names joined by `AND` and `OR`, with parentheses; `AND` binds more tightly.",
  );

function problemOf(text: string): string | undefined {
  // Also called for texts that are too long, and ten thousand parentheses would overflow the stack. The bound counts characters, of which
  // some have two units here.
  if (text.length > 2 * MAX_LENGTH) return undefined;
  try {
    return permissionQueryField.safeParse(parsePermissionQuery(text)).error?.issues[0]?.message;
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}
