import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { WebhookOptions } from "../options.js";

/** The location of a store that several processes open. */
export interface StorePlace {
  /** Path of an SQLite file, or URL of a Redis or PostgreSQL server. */
  readonly place: string;
  /** On PostgreSQL, the schema. */
  readonly keyPrefix: string;
}

/** A running `sender.worker.ts`. */
export interface Worker {
  /** Resolves when the worker sends, or has been killed before that. */
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
}

/** Starts a process that runs the compiled package. */
export function startWorker({ place, keyPrefix }: StorePlace, options: WebhookOptions): Worker {
  const program = fileURLToPath(new URL("../../dist/testing/sender.worker.js", import.meta.url));
  const child = spawn(process.execPath, [program, place, keyPrefix, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "ready") resolve();
    });
    child.once("close", () => resolve());
  });
  return { ready, ended, signal: (name) => child.kill(name) };
}
