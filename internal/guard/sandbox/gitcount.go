package sandbox

import "sync"

// gitCount counts the commands that may make repositories, since a person agreed to them.
// Others that run beside them leave what they make alone.
type gitCount struct {
	mu             sync.Mutex
	running, ended int
}

// BeginGit is called before a command that may make repositories, end when it has ended.
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

// GitMark is a moment for GitSince; 0 for a podd that has just begun.
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
