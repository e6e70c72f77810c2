import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";

/** How many bytes of a needle are looked up at each place of what is searched. */
const WINDOW = 4;

/** Where a window is noted in a table of 2^20. */
const slotOf = (window: number) => Math.imul(window, 0x9e3779b1) >>> 12;

interface Needle {
  readonly encoding: string;
  readonly bytes: Buffer;
  /** Where in the needle the window is. */
  readonly at: number;
}

/**
 * A text in five encodings. In base64 it looks different behind one and behind two other bytes, so there are three of each; characters that
 * hold bits of a neighbour are left off.
 */
function encoded(text: string): readonly (readonly [encoding: string, bytes: Buffer])[] {
  const bytes = Buffer.from(text);
  const shifted = [0, 1, 2].map((shift) => {
    const all = Buffer.concat([Buffer.alloc(shift), bytes, Buffer.alloc(2)]).toString("base64");
    return all.slice(shift === 0 ? 0 : shift + 1, Math.floor(((shift + bytes.length) * 4) / 3));
  });
  const web = (base64: string) => base64.replaceAll("+", "-").replaceAll("/", "_");
  return [
    ["utf8", bytes],
    ["utf16le", Buffer.from(text, "utf16le")],
    ["hex", Buffer.from(bytes.toString("hex"))],
    ["hex", Buffer.from(bytes.toString("hex").toUpperCase())],
    ...shifted.map((base64) => ["base64", Buffer.from(base64)] as const),
    ...shifted.map((base64) => ["base64url", Buffer.from(web(base64))] as const),
  ];
}

/** Where secrets were found, in words; empty where none was. */
export type FindSecrets = (where: string, bytes: Buffer) => string[];

/**
 * Looks for many texts at once, in five encodings, in one pass.
 *
 * @param secrets - Each of 12 characters or more.
 */
export function secretFinder(secrets: Iterable<string>): FindSecrets {
  const windows = new Map<number, Needle[]>();
  const seen = new Uint8Array(1 << 20);
  for (const secret of secrets)
    for (const [encoding, bytes] of encoded(secret)) {
      const at = Math.floor((bytes.length - WINDOW) / 2);
      const window = bytes.readInt32LE(at);
      windows.set(window, [...(windows.get(window) ?? []), { encoding, bytes, at }]);
      seen[slotOf(window)] = 1;
    }
  return (where, bytes) => {
    const found: string[] = [];
    let window = 0;
    for (let end = 0; end < bytes.length; end += 1) {
      window = (window >>> 8) | ((bytes[end] ?? 0) << 24);
      if (seen[slotOf(window)] === 0) continue;
      for (const needle of windows.get(window) ?? []) {
        const start = end + 1 - WINDOW - needle.at;
        const part = bytes.subarray(Math.max(start, 0), start + needle.bytes.length);
        if (start >= 0 && part.equals(needle.bytes)) found.push(`${needle.encoding} in ${where}`);
      }
    }
    return found;
  };
}

/** Every file below a folder, with what is in it. Sockets and what vanishes meanwhile are left out. */
export function filesBelow(folder: string): (readonly [path: string, bytes: Buffer])[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() && statSync(path).size > 0 ? [[path, readFileSync(path)] as const] : [];
  });
}

/** All that can be made of a value by printing it: of an error also its stack, cause and hidden fields. */
export function everythingAbout(value: unknown): string {
  const whole = { depth: 20, maxStringLength: null, maxArrayLength: null } as const;
  if (!(value instanceof Error)) return inspect(value, whole);
  const hidden = { ...whole, showHidden: true, getters: true };
  const { stack, message, cause } = value;
  return `${inspect(value, hidden)} ${JSON.stringify(value)} ${value} ${stack} ${message} ${inspect(cause, hidden)}`;
}
