// Package shim starts commands for podd and records how they end, even when podd is
// killed meanwhile.
//
// Only the parent of a process learns its exit status. podd may be killed, so it cannot
// be the parent of a command whose status must survive. A shim is a second process, of
// podd-launch or of this binary: it starts commands on request, writes to each command's record (see
// record.Record) which process it is, and at the end its status. It exits when podd is
// gone and its last command has ended. The next podd knows of a command only from its
// record:
//
//   - A record that no process has open is final.
//   - A command without a note that it begins, or with a note that it failed to, has not run.
//   - One that begins, and has no process and no such note, may have run: podd or the shim
//     ended at that moment.
//
// Each command has its own session, its output is in a spool file, and its record has room
// reserved for the status, so that a full disk cannot lose it. The cost: whoever kills the
// shim loses the statuses of running commands, and a service manager that kills the whole
// group (KillMode=control-group or mixed) ends commands too.
//
// [Local] starts commands as children of this process. It is for programs that do not
// call [Main], and a shim uses it itself.
package shim
