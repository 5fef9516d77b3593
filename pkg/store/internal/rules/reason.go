package rules

// The reasons of the refusals, which package store describes as ReasonPodExists and so on.
const (
	PodExists      = "POD_EXISTS"
	PodNotFound    = "POD_NOT_FOUND"
	StaleEpoch     = "STALE_EPOCH"
	BadBatch       = "BAD_BATCH"
	BadName        = "BAD_NAME"
	TooLarge       = "ENTRY_TOO_LARGE"
	RequestIDTaken = "REQUEST_ID_TAKEN"
	InboxFull      = "INBOX_FULL"
	ImagesFull     = "IMAGES_FULL"
	ImageNotFound  = "IMAGE_NOT_FOUND"
	NotWaiting     = "NOT_WAITING"
	BadRange       = "BAD_RANGE"
	Purged         = "PURGED"
	LogGrew        = "LOG_GREW"
	StillWaiting   = "STILL_WAITING"
	BeyondEnd      = "BEYOND_END"
	AlertNotFound  = "ALERT_NOT_FOUND"
	Damaged        = "DAMAGED"
	NoSpace        = "NO_SPACE"
	Failed         = "STORE_FAILED"
	Away           = "STORE_AWAY"
	NotOwner       = "NOT_OWNER"
	NodeAway       = "NODE_AWAY"
	Closed         = "STORE_CLOSED"

	Held       = "STORE_HELD"
	CannotOpen = "STORE_CANNOT_OPEN"
	Unreadable = "STORE_UNREADABLE"
	Newer      = "STORE_NEWER"
)
