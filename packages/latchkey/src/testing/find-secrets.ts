import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";

/** Bytes of a needle that are looked up at each position of the searched bytes. */
const WINDOW = 4;

/** The slot of a window in a table of 2^20. */
const slotOf = (window: number) => Math.imul(window, 0x9e3779b1) >>> 12;

interface Needle {
  readonly encoding: string;
  readonly bytes: Buffer;
  /** Position of the window in the needle. */
  readonly at: number;
}

/**
 * A text in five encodings. Base64 depends on whether zero, one or two other bytes come before, so there are three forms of each alphabet.
 * Characters that contain bits of a neighbour are left out.
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

/** Describes each secret found in the bytes; empty if there is none. */
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

/** Every file below a folder, with its contents. Sockets and files that vanish meanwhile are left out. */
export function filesBelow(folder: string): (readonly [path: string, bytes: Buffer])[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() && statSync(path).size > 0 ? [[path, readFileSync(path)] as const] : [];
  });
}

/** Everything that printing a value can show; for an error, that includes its stack, cause and hidden fields. */
export function everythingAbout(value: unknown): string {
  const whole = { depth: 20, maxStringLength: null, maxArrayLength: null } as const;
  if (!(value instanceof Error)) return inspect(value, whole);
  const hidden = { ...whole, showHidden: true, getters: true };
  const { stack, message, cause } = value;
  return `${inspect(value, hidden)} ${JSON.stringify(value)} ${value} ${stack} ${message} ${inspect(cause, hidden)}`;
}
