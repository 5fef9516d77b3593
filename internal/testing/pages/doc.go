// Package pages checks the Markdown pages of the repository: links lead to files and
// headings that exist, and decisions stay short.
//
// Rank 0: it imports nothing of podd, and consists of tests.
package pages
