// Package spec is what podd promises about the log of a pod, as numbered invariants that run: a Checker reads a log, entry by
// entry, and says which of them fails where. docs/spec.md lists them, with the code that keeps each.
//
// The invariants are true of each log that any released podd wrote: also of forks, rewound and purged ones, and those of pods
// that were moved, restored or migrated. A Checker is pure. It knows the log alone, and shares no code with what writes it:
// a mistake of package fold is not a mistake here. [Pod] checks the log of a pod in a store.
package spec
