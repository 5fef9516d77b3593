package sandbox

import "sync"

// gitCount counts the commands that may make repositories because a person agreed. Other
// commands that run beside them do not undo what they make.
type gitCount struct {
	mu             sync.Mutex
	running, ended int
}

// BeginGit is called before a command that may make repositories; call end when it has
// ended.
func (g *gitCount) BeginGit() (end func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.running--
		g.ended++
	}
}

// GitMark is a moment for GitSince; 0 right after podd's start.
func (g *gitCount) GitMark() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended
}

// GitSince says whether a command that may make repositories ran since a moment.
func (g *gitCount) GitSince(mark int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running > 0 || g.ended != mark
}
