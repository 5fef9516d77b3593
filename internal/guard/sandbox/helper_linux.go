package sandbox

import (
	"sync/atomic"

	"podd/internal/commands/confine"
)

// hasHelper says that this binary calls Main.
var hasHelper atomic.Bool

// Main is the sandbox's helper if this process was started as one: it confines itself and
// becomes its command. Otherwise it keeps the files that this process was started with
// from commands that it will start, and returns. Call it first in main, before anything
// is opened or started.
func Main() {
	confine.Main()
	hasHelper.Store(true)
}
