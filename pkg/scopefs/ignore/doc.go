// Package ignore says what git ignores in a directory, by its .gitignore files and by
// .git/info/exclude. The rules of the user and of the system are not read: they are outside of
// the directory.
//
// go-git's matcher is not used, because it differs from git in common cases: with the rules *.o
// and !keep it shows keep/x.o. A test compares this package with git on generated trees.
package ignore
