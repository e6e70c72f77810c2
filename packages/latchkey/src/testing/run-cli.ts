import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Ended } from "./ended.js";

/** The published entry. It needs a current build. */
export const cli = fileURLToPath(new URL("../../bin/cli.js", import.meta.url));

type Env = Readonly<Record<string, string>>;

/** A running `latchkey serve`, or `latchkey console`. */
export interface RunningServer {
  readonly url: string;
  /** Every line printed so far, the address first. */
  readonly lines: readonly string[];
  /** Resolves to the line at this index; 0 is the address. */
  line(index: number): Promise<string>;
  /** Sends a signal without waiting. */
  signal(name: NodeJS.Signals): void;
  /** Closes the pipe that it prints to; `both`: that of stderr as well. */
  stopReading(options?: { readonly both?: boolean }): void;
  readonly ended: Promise<Ended>;
}

/** Runs the program to its end. */
export function runCli(args: readonly string[], env: Env = {}): Promise<Ended> {
  return endOf(spawnCli(args, env));
}

/** Starts `latchkey serve`, or another command that listens, on a free port, and resolves once it has printed its address. */
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
    stopReading: ({ both = false } = {}) => {
      child.stdout?.destroy();
      if (both) child.stderr?.destroy();
    },
    ended,
  };
}

/** Starts the program. */
export function spawnCli(
  args: readonly string[],
  env: Env = {},
  stdio: StdioOptions = ["ignore", "pipe", "pipe"],
): ChildProcess {
  // The user's own settings must not have an effect.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("LATCHKEY_"));
  return spawn(process.execPath, [cli, ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio,
  });
}

/** Resolves once a program has ended. */
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
