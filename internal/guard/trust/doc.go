// Package trust records which workspaces' own configuration a person trusts. podd obeys a
// file of a workspace only while all of them are, byte by byte, what that person saw.
// Only the rules, which ask and deny, still apply after the files change: until other
// ones are trusted, or the trust is withdrawn.
//
// The record is a file in podd's state directory, which no tool reaches. A record that
// can't be read is an error: nothing is trusted by accident.
package trust
