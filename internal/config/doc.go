// Package config owns podd's configuration: config.toml, the environment variables that
// override it, and the defaults. It checks every value in one place and remembers where
// each comes from.
//
// It refuses what it does not understand. An unknown key, a value of the wrong type or
// range and a key of a later version are each one sentence that names the file, the line
// and the key. It never shows the API key.
//
// A key is a field of a struct in file.go, whose tags say what it may be. A table that has
// more to check than single keys has a method check. A Config has the types of the packages
// that use it. To add a key, add the field, its default and its row in
// docs/configuration.md, and run go test ./internal/config -update.
//
// Rank 5: it imports pkg/pod and what podd offers pods; it is the home of go-toml. A
// Config does not change after Load.
package config
