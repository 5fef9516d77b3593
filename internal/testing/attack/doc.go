// Package attack holds what podd was attacked with: a table of attacks, each with the
// class of published weakness that it comes from, the guard that stops it, and the test
// that shows it. docs/security.md shows the same table.
//
// A guard says which lines of the code it is, and what stands there once it is switched
// off. The tests of this package hold that each test of the table exists and that each
// guard is where the table says. With PODD_GUARDS_OFF=1 (make guards) they also build
// the packages without each guard in turn, by go's -overlay, and hold that the tests of
// its attacks fail then: the attack works without the guard. No build of podd can
// switch one off.
//
// Rank 0: it imports nothing of podd, and consists of tests.
package attack
