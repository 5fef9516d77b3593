package sandbox

// KeptDir is a directory in which some names must stay as they are, or be missing.
type KeptDir struct {
	// Root is the guarded directory that has it, Path its path in there.
	Root string `json:"root"`
	Path []byte `json:"path"`
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
	// Born is when it was made, in nanoseconds, because a number is given again; 0 if its file system does not know.
	Born int64 `json:"born,omitempty"`
	// Git says that it is a git directory: its configuration may change by harmless settings.
	Git bool `json:"git,omitempty"`
	// Names are kept, with all that is in them.
	Names []string `json:"names"`
	// Files are what was there, by path in the directory.
	Files map[string]KeptFile `json:"files,omitempty"`
	// Exec are the lines of an unfinished rebase that run commands.
	Exec []string `json:"exec,omitempty"`
	// made says that the command made the directory.
	made bool
	// waits says that a git which holds the lock of a configuration may finish first.
	waits bool
	// good are configurations as they were last with nothing to take back.
	good map[string][]byte
}

// KeptFile is a file, a directory or a link.
type KeptFile struct {
	Dir  bool   `json:"dir,omitempty"`
	Link string `json:"link,omitempty"`
	Text []byte `json:"text,omitempty"`
	Mode uint32 `json:"mode,omitempty"`
	// Large is when it changed last, in nanoseconds, if it is too large to be put back.
	Large int64 `json:"large,omitempty"`
}
