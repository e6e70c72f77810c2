import { print, type Tally } from "../tally.js";
import { BEYOND, FAULTS, type Fault } from "./faults.js";
import { LAWS, Violation } from "./laws.js";
import { Schedule } from "./schedule.js";

/** The result of a search. */
export interface Found {
  readonly schedules: number;
  readonly decisions: number;
  /** Null: no law was broken. */
  readonly violation: { readonly seed: number; readonly text: string } | null;
}

/** Runs schedules, each with its own seed, until one breaks a law. */
export function search(fault: Fault | null, seed: number, most: number): Found {
  let decisions = 0;
  for (let done = 0; done < most; done += 1) {
    const text = violationOf(() => {
      decisions += new Schedule(seed + done, fault, null).run();
    });
    if (text !== null)
      return { schedules: done + 1, decisions, violation: { seed: seed + done, text } };
  }
  return { schedules: most, decisions, violation: null };
}

/** Prints the story of one schedule. */
export function tellSchedule(fault: Fault | null, seed: number): Tally {
  const before = process.cpuUsage();
  const told = violationOf(() => new Schedule(seed, fault, (text) => print([text])).run());
  if (told !== null) print([told]);
  return tallyOf(
    { schedules: 1, decisions: 0, violation: told === null ? null : { seed, text: told } },
    before,
  );
}

/** Searches the protocol as it is, which should break no law, or with one fault, which should. Prints the violation. */
export function searchAndTell(fault: Fault | null, seed: number, most: number): Tally {
  const before = process.cpuUsage();
  const found = search(fault, seed, most);
  const { violation, schedules } = found;
  if (violation !== null)
    print([`seed ${violation.seed}, schedule ${schedules}: ${violation.text}`]);
  return tallyOf(found, before);
}

/**
 * Plants every fault in turn, and prints a table of the number of schedules until it was found.
 *
 * @returns Names of the faults that were not found.
 */
export function searchForFaults(seed: number, most: number): readonly string[] {
  const missed: string[] = [];
  print(["| Fault | Mistake | Found after | By the law |", "| --- | --- | ---: | --- |"]);
  for (const [name, mistake] of Object.entries({ ...FAULTS, ...BEYOND })) {
    const { schedules, violation } = search(name as Fault, seed, most);
    if (violation === null) missed.push(name);
    const after = violation === null ? "not found" : schedules.toLocaleString("en");
    print([`| \`${name}\` | ${mistake} | ${after} | ${violation?.text.slice(0, 2) ?? ""} |`]);
  }
  return missed;
}

function violationOf(run: () => void): string | null {
  try {
    run();
    return null;
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return `${error.law}, ${LAWS[error.law]}: ${error.message}`;
  }
}

function tallyOf({ schedules, decisions, violation }: Found, before: NodeJS.CpuUsage): Tally {
  const { user, system } = process.cpuUsage(before);
  return {
    done: schedules,
    violations: violation === null ? 0 : 1,
    counts: { "decided without the store": decisions },
    seconds: (user + system) / 1e6,
  };
}
