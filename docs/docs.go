// Package docs has the pages of the documentation that podd itself reads.
//
// Rank 0: it imports nothing of podd.
package docs

import _ "embed" // for Configuration

// Configuration is the page with the reference of config.toml.
//
//go:embed configuration.md
var Configuration string
