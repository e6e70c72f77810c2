#!/usr/bin/env node
// Here before anything is built: package managers link programs when they install, and those of a clone are not in dist/ yet.
import "../dist/cli.js";
