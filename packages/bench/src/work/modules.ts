import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { Measurement } from "../measure/measurement.js";
import type { Work } from "./work.js";

const PACKAGES = ["@latchkey/core", "latchkey"] as const;

/** Measures the CPU time of importing a package in a new process, less that of a process that imports nothing. */
export const importPackages: Work = async ({ scale }) => {
  const names = ["node", ...PACKAGES];
  const samples = names.map((): number[] => []);
  for (let round = 0; round <= scale.fewRounds; round += 1)
    for (const [index, name] of names.entries()) {
      const cpuMs = importCpuMs(index === 0 ? null : name);
      // The first round only fills the system's file cache.
      if (round > 0) samples[index]?.push(cpuMs);
    }
  const [bare = [], ...imports] = samples;
  return PACKAGES.map(
    (name, index): Measurement => ({
      id: `modules/${name}`,
      title: `import of ${name}, CPU above bare node`,
      unit: "ms",
      sides: [
        {
          name: "latchkey",
          samples: (imports[index] ?? []).map((cpuMs, round) => cpuMs - (bare[round] ?? 0)),
        },
      ],
    }),
  );
};

/** Measures the unpacked size of a package. */
export const packageSizes: Work = async () =>
  PACKAGES.map((name): Measurement => {
    const directory = dirname(dirname(entryOf(name)));
    const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: directory,
      encoding: "utf8",
      shell: process.platform === "win32",
    });
    const [{ unpackedSize }] = JSON.parse(stdout) as [{ unpackedSize: number }];
    return {
      id: `tarball/${name}`,
      title: `${name}, unpacked`,
      unit: "bytes",
      sides: [{ name: "latchkey", samples: [unpackedSize] }],
    };
  });

function importCpuMs(name: string | null): number {
  const url = name === null ? null : pathToFileURL(entryOf(name)).href;
  const program = `${url === null ? "" : `await import(${JSON.stringify(url)});`}
    const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);`;
  const args = ["--input-type=module", "--eval", program];
  const { stdout, status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}

function entryOf(name: string): string {
  return createRequire(import.meta.url).resolve(name);
}
