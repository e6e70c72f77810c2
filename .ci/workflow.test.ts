import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readPackages } from "./sources.js";

const textOf = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** Not installed by the workflow, because its machines have Google Chrome. */
const THERE = "chromium-headless-shell";

test.each(["ci", "release", "weekly"])(
  "%s.yml installs the programs that setup.mjs installs as root: without them tests are skipped",
  (name) => {
    const installed = textOf(".ci/setup.mjs").matchAll(/packages: \["([a-z-]+)"/g);
    const programs = [...installed].map(([, name]) => name).filter((name) => name !== THERE);
    expect(programs).toContain("redis-server");
    const [, line = ""] =
      /apt-get install -y -q (.*)/.exec(textOf(`.github/workflows/${name}.yml`)) ?? [];
    expect(line.split(" ").sort()).toEqual(programs.sort());
  },
);

describe("the release", () => {
  const release = textOf(".github/workflows/release.yml");

  test("publishes with provenance, after all checks and the bill of materials, and without a token", () => {
    const steps = ["bash .ci/run", " pack ", ".ci/sbom.mjs", "npm publish"];
    const places = steps.map((step) => release.indexOf(step));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(release).toMatch(/^ {6}id-token: write$/m);
    expect(release.match(/npm publish .*/g)).toEqual([
      'npm publish "$1" --provenance --access public',
    ]);
    expect(release).not.toMatch(/secrets\.|NODE_AUTH_TOKEN/);
  });

  test("packs every package except the private ones", () => {
    const left = [...release.matchAll(/"!(@?[\w/-]+)"/g)].map(([, name]) => name);
    const hidden = readPackages().filter(({ manifest }) => manifest.private === true);
    expect(left.sort()).toEqual(hidden.map(({ manifest }) => manifest.name).sort());
  });
});

test.each(["ci", "release", "weekly"])(
  "%s.yml has only read permissions unless a job says otherwise, and uses only GitHub's own actions",
  (name) => {
    const text = textOf(`.github/workflows/${name}.yml`);
    expect(text).toMatch(/^permissions:\n {2}contents: read\n\n/m);
    const actions = [...text.matchAll(/uses: (\S+)/g)].map(([, action = ""]) => action);
    expect(actions.filter((action) => !action.startsWith("actions/"))).toEqual([]);
    const checkouts = actions.filter((action) => action.startsWith("actions/checkout@"));
    expect(text.match(/persist-credentials: false/g)).toHaveLength(checkouts.length);
  },
);
