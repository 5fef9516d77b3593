package builtin

// Outcome is outcome for tests.
var Outcome = outcome
