//go:build integrations

// Package rig starts a real podd and the third-party programs that the tests below
// integrations use with it. `make test-integrations` installs those programs. If one is
// missing, a test fails with a sentence that says so, and is never skipped.
package rig
