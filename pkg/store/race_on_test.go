//go:build race

package store_test

// underRace says that the race detector is on: it needs terabytes of address space.
const underRace = true
