import type { Command } from "commander";
import { Refused } from "../command-line/failures.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { addCommonOptions, type CommonOptions } from "../command-line/operations.js";
import { type Column, printRows } from "../command-line/output.js";
import { progressLines } from "../command-line/progress.js";
import { readRings, readStore, withLatchkey } from "../command-line/store-options.js";
import { examine } from "../doctor/examination.js";
import { type Finding, fine } from "../doctor/finding.js";
import type { KeyRings } from "../key-rings-from-env.js";
import { version } from "../version.js";

interface Options extends CommonOptions {
  readonly fix?: true;
  readonly endLeases?: true;
}

const COLUMNS: readonly Column<Finding>[] = [
  { title: "CHECK", of: ({ check }) => check },
  { title: "STATE", of: ({ state }) => state },
  { title: "FOUND", of: ({ found }) => found },
];

/** Adds `latchkey doctor`: checks a store, and repairs what can be repaired. */
export function addDoctor(program: Command, host: Host): void {
  const doctor = program
    .command("doctor")
    .description(
      "check whether the store answers, whether its clock, its lists and its records agree, whether the vault key and the pepper fit, and whether a wrong clock has put limits or refills into the future; exits with 1 if something is wrong",
    )
    .option("--fix", "mend what can be mended")
    .option("--end-leases", "first end all leases, so that no change waits for them")
    .addHelpText("after", example("latchkey doctor --store sqlite:./keys.db --fix"));
  addCommonOptions(doctor).action(async (options: Options) => {
    const rings = readRings(host);
    const findings = [...settings(options, host, rings)];
    try {
      await withLatchkey(options, host, async (latchkey, store) => {
        if (options.endLeases) await latchkey.endLeases();
        const onProgress = progressLines(host);
        const context = { latchkey, store, fix: options.fix ?? false, rings, onProgress };
        for await (const finding of examine(context)) findings.push(finding);
      });
    } finally {
      // Even if the store failed: these were found before.
      printRows(host, options, findings, COLUMNS);
    }
    if (findings.some(({ state }) => state === "wrong")) throw new Refused();
  });
}

/** The version and the settings, without their secrets. */
function settings(options: Options, host: Host, { vault, pepper }: KeyRings): readonly Finding[] {
  const { parsed } = readStore(options, host, "existing");
  return [
    fine("version", `latchkey ${version()} on Node.js ${process.versions.node}`),
    fine("settings", `store ${parsed.kind}, vault ${ringText(vault)}, pepper ${ringText(pepper)}`),
  ];
}

function ringText(ring: KeyRings["vault"]): string {
  if (ring === undefined) return "not set";
  return `${Object.keys(ring.keys).join(",")} (current: ${ring.current})`;
}
