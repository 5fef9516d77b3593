//go:build race

package store_test

// underRace says that the race detector watches: it needs terabytes of address space.
const underRace = true
