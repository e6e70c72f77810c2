import { join } from "node:path";
import { defineConfig } from "vitepress";
import { slugOf, withoutEmptyHeadings } from "../src/markdown.js";
import { REPOSITORY, stageSite } from "../src/stage.js";

const folder = join(REPOSITORY, "packages", "site");

export default defineConfig({
  title: "latchkey",
  description: "Issue, verify and manage API keys inside your own Node server.",
  lang: "en",
  srcDir: "build/pages",
  srcExclude: ["public/**"],
  outDir: join(folder, "dist"),
  cacheDir: join(folder, "build", "cache"),
  // Follows the reader's system, because a button could not switch the pictures.
  appearance: "force-auto",
  metaChunk: true,
  head: [
    ["link", { rel: "icon", href: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>" }],
  ],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: slugOf },
    config: withoutEmptyHeadings,
  },
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    nav: [
      { text: "Start", link: "/start/express" },
      { text: "Recipes", link: "/recipes/plans" },
      { text: "Operations", link: "/operations" },
      { text: "HTTP", link: "/http" },
    ],
    sidebar: [...stageSite(join(folder, "build", "pages"), REPOSITORY)],
    outline: [2, 3],
    search: { provider: "local" },
  },
});
