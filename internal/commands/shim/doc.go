// Package shim starts commands for podd and writes down how they end, also when podd is
// killed meanwhile.
//
// Only the parent of a process learns its exit status, so that a podd which may be killed
// cannot be the parent of what must be known afterwards. A shim is this very binary once
// more: it starts commands when podd asks for them, notes in each command's record (see
// spool.Record) which process it is, and in the end its status. It ends by itself once
// podd is gone and its last command has ended. The next podd knows of it by the record
// alone:
//
//   - A record that nobody holds is the last word on its command.
//   - A command without a note that it begins, or with one that this failed, has not run.
//   - One that begins, and has no process and no such note, may have run: podd or the shim
//     ended at that moment.
//
// [Local] starts commands as children of this process; it is for programs that do not
// call [Main], and is what a shim does itself.
package shim
