import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A running server of the examples. */
export interface Started {
  /** The first lines it printed. */
  readonly lines: readonly string[];
  /** Asks it to end, and resolves to its exit code. */
  stop(): Promise<number | null>;
}

const STOPPABLE = new URL("stoppable.mjs", import.meta.url).href;

/** Starts a server of the examples on the compiled packages, and waits for its first `lineCount` lines. */
export async function start(
  path: string,
  lineCount: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const program = fileURLToPath(new URL(`../${path}`, import.meta.url));
  const child = spawn(process.execPath, ["--import", STOPPABLE, program], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === lineCount) break;
  }
  return {
    lines,
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}
