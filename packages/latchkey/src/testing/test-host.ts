import type { Host } from "../command-line/host.js";

/** What a program is given that prints into a file, and has nothing on stdin. */
export function testHost(parts: Partial<Host>): Host {
  return {
    env: {},
    print: () => undefined,
    warn: () => undefined,
    terminal: null,
    asks: false,
    readInput: async () => "",
    pause: async () => false,
    ...parts,
  };
}
