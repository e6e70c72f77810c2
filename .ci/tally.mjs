// Prints "N passed, N failed" from Vitest's JSON report, always as the last line. Exits with 1 unless at least one test ran, and all tests
// passed and none was skipped.

import { readFileSync } from "node:fs";

const file = process.argv[2] ?? ".ci/.report/tests.json";

/** @type {{ numPassedTests: number, numFailedTests: number, numFailedTestSuites: number, numPendingTests: number, numTodoTests: number, success: boolean, testResults: { name: string, status: string, message?: string, assertionResults: { status: string, fullName: string, failureMessages?: string[] }[] }[] } | null} */
let report = null;
/** @type {string[]} */
const problems = [];

try {
  report = JSON.parse(readFileSync(file, "utf8"));
} catch (error) {
  problems.push(`no test report: ${error instanceof Error ? error.message : error}`);
}

if (report !== null) {
  for (const { name, status, message, assertionResults } of report.testResults) {
    for (const test of assertionResults) {
      if (test.status === "passed") continue;
      // The start of each failure message, because often only the end of a log is kept.
      const said = (test.failureMessages ?? []).map(
        (text) => `\n  ${text.slice(0, 600).replaceAll("\n", "\n  ")}`,
      );
      problems.push(`${test.status}: ${name} > ${test.fullName}${said.join("")}`);
    }
    if (status === "failed" && assertionResults.length === 0) {
      problems.push(`did not run: ${name}${message ? ` (${message.split("\n")[0]})` : ""}`);
    }
  }
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = report;
  if (numPendingTests + numTodoTests > 0 && problems.length === 0) {
    problems.push(`${numPendingTests} tests skipped, ${numTodoTests} to do`);
  }
  if (numPassedTests + numFailedTests === 0) problems.push("no test ran");
  if (!report.success && problems.length === 0) problems.push("the runner reports failure");
}

for (const problem of problems) console.log(problem);
console.log(`${report?.numPassedTests ?? 0} passed, ${report?.numFailedTests ?? 0} failed`);
process.exitCode = problems.length > 0 ? 1 : 0;
