import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Ended } from "./ended.js";

/** As it is published: the drills are run on a build that is up to date. */
export const cli = fileURLToPath(new URL("../../bin/cli.js", import.meta.url));

type Env = Readonly<Record<string, string>>;

/** A running `latchkey serve`, or `latchkey console`. */
export interface RunningServer {
  readonly url: string;
  /** Every line printed so far, the address first. */
  readonly lines: readonly string[];
  /** Resolves with the line of this index, 0 being the address. */
  line(index: number): Promise<string>;
  /** Sends a signal without waiting. */
  signal(name: NodeJS.Signals): void;
  /** Closes the pipe that it prints to. */
  stopReading(): void;
  readonly ended: Promise<Ended>;
}

/** Runs the program to its end. */
export function runCli(args: readonly string[], env: Env = {}): Promise<Ended> {
  return endOf(spawnCli(args, env));
}

/** Starts `latchkey serve`, or another that listens, on a free port and waits until it says where it is. */
export async function startServer(
  args: readonly string[],
  env: Env = {},
  command: "serve" | "console" = "serve",
): Promise<RunningServer> {
  const child = spawnCli([command, "--port", "0", ...args], env);
  const ended = endOf(child);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  reader.on("line", (line) => lines.push(line));
  const line = async (index: number): Promise<string> => {
    while (lines[index] === undefined) {
      const early = await Promise.race([once(reader, "line"), ended]);
      if (!Array.isArray(early) && lines[index] === undefined) {
        throw new Error(`the server ended early: ${early.stderr}`);
      }
    }
    return lines[index];
  };
  return {
    url: await line(0),
    lines,
    line,
    signal: (name) => void child.kill(name),
    stopReading: () => void child.stdout?.destroy(),
    ended,
  };
}

/** Starts the program. */
export function spawnCli(
  args: readonly string[],
  env: Env = {},
  stdio: StdioOptions = ["ignore", "pipe", "pipe"],
): ChildProcess {
  // Settings of whoever runs the tests must not decide what they see.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("LATCHKEY_"));
  return spawn(process.execPath, [cli, ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio,
  });
}

/** Resolves with what a program left behind, once it has ended. */
export function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}
