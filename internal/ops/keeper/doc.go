// Package keeper looks after the file of the store: it opens it, and looks for damage
// first when podd did not close it; copies it on a schedule and before a migration;
// makes backups; compacts it. It never deletes a database: one that is damaged is moved
// aside, and the newest copy is named.
//
// Whatever may fault on a damaged file is done in a process of its own. The caller
// holds the lock of the state directory.
package keeper
