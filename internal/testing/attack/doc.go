// Package attack lists the attacks that podd was tested with. Each has its class of
// published weakness, the guard that stops it, and the test that shows so. README.md
// shows the same table.
//
// A guard names the lines of code that implement it and the text that replaces them to
// switch it off. The tests of this package check that each test of the table exists and
// that each guard is where the table says. With PODD_GUARDS_OFF=1 (make guards) they
// also build the packages without each guard in turn, by go's -overlay, and check that
// the tests of its attacks fail: without the guard the attack works. No build of podd
// can switch a guard off.
//
// Rank 0: it imports nothing of podd, and consists of tests.
package attack
