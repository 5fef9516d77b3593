package sandbox

import "sync"

// gitCount counts the commands that may make repositories, since a person agreed to them.
// Others that run beside them leave what they make alone.
type gitCount struct {
	mu             sync.Mutex
	running, ended int
}

// BeginGit is called before a command that may make repositories, end when it has ended.
func (s *Sandbox) BeginGit() (end func()) {
	s.git.mu.Lock()
	defer s.git.mu.Unlock()
	s.git.running++
	return func() {
		s.git.mu.Lock()
		defer s.git.mu.Unlock()
		s.git.running--
		s.git.ended++
	}
}

// GitMark is a moment for GitSince; 0 for a podd that has just begun.
func (s *Sandbox) GitMark() int {
	s.git.mu.Lock()
	defer s.git.mu.Unlock()
	return s.git.ended
}

// GitSince says whether a command that may make repositories ran since a moment.
func (s *Sandbox) GitSince(mark int) bool {
	s.git.mu.Lock()
	defer s.git.mu.Unlock()
	return s.git.running > 0 || s.git.ended != mark
}
