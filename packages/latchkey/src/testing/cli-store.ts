import { join } from "node:path";
import { expect } from "vitest";
import type { Host } from "../command-line/host.js";
import { runInProcess } from "./run-in-process.js";
import { tempFolder } from "./temp-folder.js";

/** The command line on a new SQLite file. */
export interface CliStore {
  readonly url: string;
  readonly run: (args: string, parts?: Partial<Host>) => ReturnType<typeof runInProcess>;
  /** Runs a command with `--json`, which must succeed, and returns the printed objects. */
  readonly json: (args: string, parts?: Partial<Host>) => Promise<Record<string, never>[]>;
  /** Runs a command that must be refused as wrong usage, with this message. */
  readonly refuses: (args: string, message: string) => Promise<void>;
}

/** Creates a SQLite file, and runs commands on it. Arguments are separated by spaces. */
export function cliStore(): CliStore {
  const url = `sqlite:${join(tempFolder(), "keys.db")}`;
  let runs = 0;
  const run: CliStore["run"] = (args, parts = {}) => {
    runs += 1;
    const now = NOON + runs * 1_000;
    return runInProcess(args.split(" "), { LATCHKEY_STORE: url }, { clock: () => now, ...parts });
  };
  return {
    url,
    run,
    json: async (args, parts) => {
      const { exitCode, stdout, stderr } = await run(`${args} --json`, parts);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      return stdout
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
    refuses: async (args, message) => {
      const stderr = `latchkey: ${message} (see --help)\n`;
      expect(await run(args)).toEqual({ exitCode: 2, stdout: "", stderr });
    },
  };
}

/** The instant of the first run. Each run is a second later. */
const NOON: number = Date.UTC(2031, 4, 17, 12);

/** A terminal without colours. */
export const TERMINAL = { terminal: { columns: 80, hasColors: false } };
