import type { Host } from "../command-line/host.js";

/** A host whose stdout is a file and whose stdin is empty. */
export function testHost(parts: Partial<Host>): Host {
  const { readInput = async () => "" } = parts;
  return {
    env: {},
    print: () => undefined,
    printed: async () => undefined,
    keepGoing: () => undefined,
    warn: () => undefined,
    terminal: null,
    asks: false,
    readInput,
    readPieces: async function* (prompt) {
      yield await readInput(prompt);
    },
    pause: async () => false,
    ...parts,
  };
}
