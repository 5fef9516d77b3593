// Package ignore says what git ignores in a directory, by its .gitignore files and by
// .git/info/exclude. The rules of the user and of the system are not read: they are outside of
// the directory.
package ignore
