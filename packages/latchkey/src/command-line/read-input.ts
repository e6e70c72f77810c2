import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";

/** The text of stdin in pieces, as they come, or, from a terminal, the line that {@link readInput} reads. */
export async function* readPieces(prompt: string): AsyncGenerator<string> {
  if (process.stdin.isTTY) yield await readInput(prompt);
  else yield* process.stdin.setEncoding("utf8");
}

/** Reads stdin to its end, or, from a terminal, one line that is not shown, after a prompt. */
export async function readInput(prompt: string): Promise<string> {
  if (!process.stdin.isTTY) return text(process.stdin);
  process.stderr.write(prompt);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      // Ctrl+C and Ctrl+D end the reading without an answer.
      lines.once("close", () => reject(new Error("nothing was given on stdin")));
      lines.question("").then(resolve, reject);
    });
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
