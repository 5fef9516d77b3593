package store

// The reasons of this package's errors.
const (
	// ReasonPodExists: the pod's name or id is taken.
	ReasonPodExists = "POD_EXISTS"
	// ReasonPodNotFound: no pod has that name or id.
	ReasonPodNotFound = "POD_NOT_FOUND"
	// ReasonStaleEpoch: the caller has no claim on the pod's log, or lost it to another one.
	ReasonStaleEpoch = "STALE_EPOCH"
	// ReasonBadBatch: the batch contradicts itself; a defect of the caller.
	ReasonBadBatch = "BAD_BATCH"
	// ReasonBadName: a name, pod id or request id cannot be a key.
	ReasonBadName = "BAD_NAME"
	// ReasonTooLarge: an entry is larger than MaxEntryBytes.
	ReasonTooLarge = "ENTRY_TOO_LARGE"
	// ReasonRequestIDTaken: the request id was admitted with another content.
	ReasonRequestIDTaken = "REQUEST_ID_TAKEN"
	// ReasonInboxFull: the inbox has reached its limit.
	ReasonInboxFull = "INBOX_FULL"
	// ReasonImagesFull: the pod has as many bytes of images as it may have.
	ReasonImagesFull = "IMAGES_FULL"
	// ReasonImageNotFound: no entry refers to an image with that digest.
	ReasonImageNotFound = "IMAGE_NOT_FOUND"
	// ReasonNotWaiting: the submit is not in the inbox.
	ReasonNotWaiting = "NOT_WAITING"
	// ReasonBadRange: a log is read from a negative sequence.
	ReasonBadRange = "BAD_RANGE"
	// ReasonPurged: the log begins later; meta first_seq.
	ReasonPurged = "PURGED"
	// ReasonLogGrew: the log has grown since the purge was decided.
	ReasonLogGrew = "LOG_GREW"
	// ReasonStillWaiting: a submit that would be purged is still in the inbox.
	ReasonStillWaiting = "STILL_WAITING"
	// ReasonBeyondEnd: the log ends earlier; meta last_seq.
	ReasonBeyondEnd = "BEYOND_END"
	// ReasonAlertNotFound: no alert has that sequence.
	ReasonAlertNotFound = "ALERT_NOT_FOUND"
	// ReasonDamaged: stored data fails its checksum; meta pod and seq, if known.
	ReasonDamaged = "DAMAGED"
	// ReasonNoSpace: the disk, a quota or a file size limit is reached; nothing was
	// written.
	ReasonNoSpace = "NO_SPACE"
	// ReasonFailed: the outcome of a commit is unknown; the process must end.
	ReasonFailed = "STORE_FAILED"
	// ReasonClosed: the store is closed.
	ReasonClosed = "STORE_CLOSED"

	// ReasonHeld: another process has the database open.
	ReasonHeld = "STORE_HELD"
	// ReasonCannotOpen: the file cannot be opened or created.
	ReasonCannotOpen = "STORE_CANNOT_OPEN"
	// ReasonUnreadable: the file is damaged, truncated, empty, or not a database of podd.
	ReasonUnreadable = "STORE_UNREADABLE"
	// ReasonNewer: a newer podd wrote the file.
	ReasonNewer = "STORE_NEWER"
)
