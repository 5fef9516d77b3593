// Package triggers is the wing by which pods work without a person at the keyboard: at a time, after a turn of another pod,
// when files differ, when somebody says so.
//
// A trigger belongs to a pod, whose log has all of it: what it is, how it stands, and a receipt for each time that was due.
// So it moves, is backed up and is deleted with its pod, and the podd that has the pod is the one that fires it. A fork and a
// restored history have the entries too, and not the triggers.
//
// Two entries of a trigger are always pending: its definition and its state. A fire is one more, from the commit that counts
// it to the one that knows the submit:
//
//  1. The state, with the cursor past the due time, and the due entry, in one commit.
//  2. A submit with a request id made of the trigger and the number of the fire. Its content never changes.
//  3. That it fired, which ends the due entry, and the state, in one commit.
//
// A kill anywhere repeats what is missing: the pod knows the request id. Due times up to the cursor never fire again, so a
// clock that is set back doubles nothing.
//
// What a trigger saw of its files is a third pending entry, stored in the commit of the fire that counts the difference. Whose
// a change is follows from its time: what changed while a call of the pod ran is the pod's, which needs neither checkpoints
// nor a turn that is watched from its beginning, and holds after a kill.
//
// Time is what the wall clock says: podd looks at it every ten seconds at least, so a machine that slept or a clock that was
// set is noticed then. A timerfd would notice a wake at once, for a system call of its own.
//
// A record and a lease of each trigger beside the logs would need rules of their own for moves, backups, forks and deletion.
// Two more rules follow from the pod that owns a trigger: a name is unique in its pod, so a webhook is at /t/POD/NAME, and new
// pods are sub-pods, unless they have a checkout. A spent budget skips due times until midnight and does not pause the trigger: a
// daily budget is for each day. The secret of a webhook is computed from a key of the podd that listens, so no log, export
// or backup has it.
package triggers
