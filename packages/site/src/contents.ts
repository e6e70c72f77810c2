/** The pages of the site, in the order of its sidebar. */

/** A page of the repository: its file, and its title in the sidebar if it differs from the page's own. */
export interface Entry {
  readonly file: string;
  readonly title?: string;
}

/** A group of the sidebar. */
export interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
  /** Whether the pages made from the OpenAPI document follow. */
  readonly hasHttpReference?: boolean;
}

export const HOME = "packages/site/home.md";

const docs = (name: string, title?: string): Entry => ({
  file: `docs/${name}.md`,
  ...(title === undefined ? {} : { title }),
});

const readme = (name: string): Entry => ({
  file: `packages/${name}/README.md`,
  title: name === "latchkey" ? name : `@latchkey/${name}`,
});

export const GROUPS: readonly Group[] = [
  {
    title: "Getting started",
    entries: [
      docs("start/express", "Express"),
      docs("start/fastify", "Fastify"),
      docs("start/hono", "Hono"),
      docs("start/nextjs", "Next.js"),
      docs("start/koa", "Koa"),
      docs("start/nestjs", "NestJS"),
      docs("start/elysia", "Elysia"),
      docs("start/trpc", "tRPC"),
      docs("start/node", "node:http"),
      docs("installing"),
    ],
  },
  {
    title: "Concepts",
    entries: [
      docs("concepts/life-of-a-key"),
      docs("verdicts"),
      docs("limits-and-uses"),
      docs("concepts/reservations"),
      docs("stores"),
      docs("leases"),
    ],
  },
  {
    title: "Recipes",
    entries: [
      docs("recipes/saas"),
      docs("recipes/plans"),
      docs("recipes/shared-limits"),
      docs("recipes/rotation"),
      docs("recipes/billing-by-use"),
      docs("recipes/bill-what-it-cost"),
      docs("recipes/five-at-once"),
      docs("recipes/many-keys"),
      docs("recipes/erasing"),
      docs("recipes/a-key-leaked"),
      docs("testing"),
    ],
  },
  {
    title: "Reference",
    entries: [
      docs("operations"),
      docs("configuration"),
      docs("finding-keys"),
      docs("repeating-writes"),
      docs("rotation-and-imports"),
      docs("events-and-audit-log"),
      docs("webhooks"),
      docs("tokens"),
      docs("errors"),
      docs("types"),
      docs("command-line"),
    ],
  },
  { title: "HTTP", entries: [docs("http")], hasHttpReference: true },
  {
    title: "In production",
    entries: [
      docs("console"),
      docs("portal"),
      docs("observability"),
      docs("logs-and-scanners"),
      docs("moving"),
      docs("backup-format"),
    ],
  },
  {
    title: "Migrating",
    entries: [
      docs("comparison"),
      docs("recipes/from-unkey"),
      docs("recipes/from-better-auth"),
      docs("recipes/from-your-own-table"),
      docs("importing"),
    ],
  },
  {
    title: "Packages",
    entries: [
      readme("latchkey"),
      readme("guard"),
      readme("console"),
      readme("portal"),
      readme("http"),
      readme("core"),
      readme("memory"),
      readme("sqlite"),
      readme("postgres"),
      readme("redis"),
      readme("webhooks"),
      readme("transfer"),
      readme("import"),
      readme("otel"),
      readme("conformance"),
    ],
  },
  {
    title: "Internals",
    entries: [
      docs("rules"),
      docs("proof"),
      { file: "packages/bench/README.md", title: "How fast" },
      { file: "packages/core/decisions/README.md", title: "Decisions" },
    ],
  },
];

/** Folders whose pages are only linked: they are too many for the sidebar. */
export const UNLISTED_FOLDERS: readonly string[] = [
  "packages/core/decisions",
  "packages/guard/decisions",
  "packages/http/decisions",
  "packages/console/decisions",
  "packages/portal/decisions",
];
