import { expect, test } from "vitest";
import { billOf, problemsOf } from "./sbom.mjs";

const licenses = [{ license: { id: "MIT" } }];
const component = (name: string, version = "1.0.0") => ({
  "bom-ref": `${name}@${version}`,
  type: "library",
  name,
  version,
  purl: `pkg:npm/${name}@${version}`,
  licenses,
});

/** npm's result for two packages of ours, `tide` and `pier`. `express` is a peer dependency of `pier`. */
const RESOLVED: Parameters<typeof billOf>[0] = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: { component: component("packages", "0.0.0") },
  components: [
    { ...component("tide"), externalReferences: [{ type: "distribution", url: "file:tide.tgz" }] },
    ...["pier", "nanoid", "ms", "express", "cookie"].map((name) => component(name)),
  ],
  dependencies: [
    { ref: "packages@0.0.0", dependsOn: ["tide@1.0.0", "pier@1.0.0"] },
    { ref: "tide@1.0.0", dependsOn: ["nanoid@1.0.0"] },
    { ref: "pier@1.0.0", dependsOn: ["tide@1.0.0", "express@1.0.0"] },
    { ref: "nanoid@1.0.0", dependsOn: ["ms@1.0.0"] },
    { ref: "ms@1.0.0" },
    { ref: "express@1.0.0", dependsOn: ["cookie@1.0.0"] },
    { ref: "cookie@1.0.0" },
  ],
};

const PACKED: Parameters<typeof billOf>[1] = [
  {
    manifest: { name: "tide", version: "1.0.0", dependencies: { nanoid: "^1.0.0" } },
    bundled: [{ name: "zod", version: "4.0.0", license: "MIT" }],
  },
  { manifest: { name: "pier", version: "1.0.0", dependencies: { tide: "^1.0.0" } }, bundled: [] },
];

const bill = billOf(RESOLVED, PACKED);
const namesIn = ({ components }: typeof bill) => components.map(({ name }) => name);

test("the bill of materials has what a package depends on, to any depth, and what is bundled into it", () => {
  expect(namesIn(bill)).toEqual(["ms", "nanoid", "pier", "tide", "zod"]);
  expect(problemsOf(bill, PACKED)).toEqual([]);
});

test("the bill of materials has no peer that users install, and no path of the machine", () => {
  expect(namesIn(bill)).not.toContain("express");
  expect(JSON.stringify(bill)).not.toContain("file:");
});

test.each(["tide", "nanoid", "ms", "zod"])("a bill of materials without %s is refused", (name) => {
  const without = {
    ...bill,
    components: bill.components.filter((each) => each.name !== name),
  };
  expect(problemsOf(without, PACKED).join("\n")).toContain(name);
});

test("a bill of materials is refused if a dependency or a licence is missing, or if it does not match the schema", () => {
  const dependencies = bill.dependencies.map(({ ref }) => ({ ref, dependsOn: [] }));
  expect(problemsOf({ ...bill, dependencies }, PACKED)).toContain("tide@1.0.0: zod is not in it");
  const components = bill.components.map(({ licenses: _, ...rest }) => rest);
  expect(problemsOf({ ...bill, components }, PACKED)).toContain(
    "zod@4.0.0 has no address or no licence",
  );
  expect(problemsOf({ ...bill, version: "first" }, PACKED)).toEqual(["/version must be integer"]);
});
