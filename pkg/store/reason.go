package store

import "podd/pkg/store/rules"

// The reasons of this package's errors.
const (
	// ReasonPodExists: the pod's name or id is taken.
	ReasonPodExists = rules.PodExists
	// ReasonPodNotFound: no pod has that name or id.
	ReasonPodNotFound = rules.PodNotFound
	// ReasonStaleEpoch: the caller has no claim on the pod's log, or lost it to another one.
	ReasonStaleEpoch = rules.StaleEpoch
	// ReasonBadBatch: the batch contradicts itself; a defect of the caller.
	ReasonBadBatch = rules.BadBatch
	// ReasonBadName: a name, pod id or request id cannot be a key.
	ReasonBadName = rules.BadName
	// ReasonTooLarge: an entry is larger than MaxEntryBytes.
	ReasonTooLarge = rules.TooLarge
	// ReasonRequestIDTaken: the request id was admitted with another content.
	ReasonRequestIDTaken = rules.RequestIDTaken
	// ReasonInboxFull: the inbox has reached its limit.
	ReasonInboxFull = rules.InboxFull
	// ReasonImagesFull: the pod has as many bytes of images as it may have.
	ReasonImagesFull = rules.ImagesFull
	// ReasonImageNotFound: no entry refers to an image with that digest.
	ReasonImageNotFound = rules.ImageNotFound
	// ReasonNotWaiting: the submit is not in the inbox.
	ReasonNotWaiting = rules.NotWaiting
	// ReasonBadRange: a log is read from a negative sequence.
	ReasonBadRange = rules.BadRange
	// ReasonPurged: the log begins later; meta first_seq.
	ReasonPurged = rules.Purged
	// ReasonLogGrew: the log has grown since the purge was decided.
	ReasonLogGrew = rules.LogGrew
	// ReasonStillWaiting: a submit that would be purged is still in the inbox.
	ReasonStillWaiting = rules.StillWaiting
	// ReasonBeyondEnd: the log ends earlier; meta last_seq.
	ReasonBeyondEnd = rules.BeyondEnd
	// ReasonAlertNotFound: no alert has that sequence.
	ReasonAlertNotFound = rules.AlertNotFound
	// ReasonDamaged: stored data fails its checksum; meta pod and seq, if known.
	ReasonDamaged = rules.Damaged
	// ReasonNoSpace: the disk, a quota or a file size limit is reached; nothing was
	// written.
	ReasonNoSpace = rules.NoSpace
	// ReasonFailed: the outcome of a commit is unknown; the process must end.
	ReasonFailed = rules.Failed
	// ReasonAway: the database does not answer; it may do so later.
	ReasonAway = rules.Away
	// ReasonNotOwner: the pod belongs to another node; meta node. ReasonNodeAway: and that node
	// does not answer.
	ReasonNotOwner = rules.NotOwner
	ReasonNodeAway = rules.NodeAway
	// ReasonMoving: a pod is moving to another node.
	ReasonMoving = "POD_MOVING"
	// ReasonNodeUp: a node answers that must not.
	ReasonNodeUp = "NODE_UP"
	// ReasonClosed: the store is closed.
	ReasonClosed = rules.Closed

	// ReasonHeld: another process has the database open.
	ReasonHeld = rules.Held
	// ReasonCannotOpen: the file cannot be opened or created.
	ReasonCannotOpen = rules.CannotOpen
	// ReasonUnreadable: the file is damaged, truncated, empty, or not a database of podd.
	ReasonUnreadable = rules.Unreadable
	// ReasonNewer: a newer podd wrote the file.
	ReasonNewer = rules.Newer
	// ReasonLeft: the pods were migrated to another store.
	ReasonLeft = rules.Left
)
