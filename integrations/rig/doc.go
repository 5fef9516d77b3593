//go:build integrations

// Package rig starts a real podd and the programs of other people that the tests below
// integrations drive against it. `make test-integrations` installs those programs; where
// one is missing a test fails with a sentence that says so, and is never skipped.
package rig
