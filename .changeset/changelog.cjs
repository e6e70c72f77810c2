const changelog = require("@changesets/cli/changelog").default;

/** No list of updated dependencies, because all packages share one version, and no commits, which say nothing to readers. */
module.exports = {
  getReleaseLine: (changeset, type) =>
    changelog.getReleaseLine({ ...changeset, commit: undefined }, type),
  getDependencyReleaseLine: async () => "",
};
