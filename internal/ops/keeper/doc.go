// Package keeper maintains the store's file. It opens the file, after a check for damage if
// podd did not close it; copies it on a schedule and before a migration; makes backups; and
// compacts it. It never deletes a database: it moves a damaged one aside and names the
// newest copy.
//
// Reading a damaged file may crash, so checks run in a process of their own. The caller has
// locked the state directory.
package keeper
