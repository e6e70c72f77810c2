/** A member of a list: its text and its parameters. */
export interface ReadMember {
  readonly text: string;
  readonly parameters: Readonly<Record<string, number | string>>;
}

/**
 * Reads a list of strings whose parameters are integers or strings, by RFC 9651, section 4.2; throws if it is not well formed.
 */
export function readList(field: string): ReadMember[] {
  let rest = field;
  const take = (pattern: RegExp): string => {
    const [text] = pattern.exec(rest) ?? [];
    if (text === undefined) throw new Error(`not well formed from here: ${rest}`);
    rest = rest.slice(text.length);
    return text;
  };
  const members: ReadMember[] = [];
  do {
    const quoted = take(/^"(?:[ !#-[\]-~]|\\["\\])*"/);
    const parameters: Record<string, number | string> = {};
    while (rest.startsWith(";")) {
      const name = take(/^;[ ]*[a-z*][a-z0-9_.*-]*/).slice(1);
      const value = take(/^=(?:-?\d{1,15}(?!\d)|"[ !#-[\]-~]*")/).slice(1);
      parameters[name.trim()] = value.startsWith('"') ? value.slice(1, -1) : Number(value);
    }
    members.push({ text: quoted.slice(1, -1).replace(/\\(.)/g, "$1"), parameters });
  } while (rest !== "" && take(/^[ \t]*,[ \t]*(?=.)/) !== "");
  return members;
}
