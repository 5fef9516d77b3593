// Package pages reads the commands on the Markdown pages of the repository, for tests.
// Tests of cmd/podd and cmd/podctl check each against the program's own flags and
// arguments. Its own tests check that links lead to files and headings that exist, that
// the index is complete, and that decisions stay short.
//
// Rank 0: it imports nothing of podd.
package pages
