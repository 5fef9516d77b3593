// Package layers holds the table of podd's layers and checks a source tree
// against it: a package imports only packages of a lower rank, and a third-party
// module is imported only by its home packages. The product imports no test machinery.
//
// It parses all files, whatever their build constraints, and type-checks nothing. Tests
// of package x_test are above all layers and may import any package of podd; a
// third-party module needs its home in tests too, unless it is a module for tests.
//
// Leaks finds exported names that mention what code outside of the module cannot.
//
// Rank 0: it imports nothing of podd. The daemon does not contain it.
package layers
