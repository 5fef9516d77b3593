package shim

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"podd/internal/commands/process"
)

// surroundings are what commands have and the shim does not: the kernel ends a command before the shim when
// memory runs out, and a command that uses up the tasks of its control group leaves the shim those that it needs.
type surroundings struct {
	// members is the file by which a process joins the group; nil without a group.
	members *os.File

	mu sync.Mutex
	// score is the shim's own OOM score, which is that of a command while starting is above 0; nil if it stays.
	score        *os.File
	mine, theirs string
	starting     int
}

// surround takes from the limits of a shim what is for its commands alone. A process that denies others access
// cannot open the file of its own score, so call it before that.
func surround(l *process.Limits) *surroundings {
	s := &surroundings{theirs: strconv.Itoa(l.OOMScore)}
	if l.OOMScore > 0 {
		s.score, _ = os.OpenFile("/proc/self/oom_score_adj", os.O_RDWR, 0)
	}
	if s.score != nil {
		mine := make([]byte, 16)
		n, _ := s.score.ReadAt(mine, 0)
		s.mine = string(mine[:n])
	}
	if l.Group != "" {
		s.members, _ = os.OpenFile(filepath.Join(l.Group, process.GroupMembers), os.O_WRONLY, 0)
	}
	if s.score != nil {
		l.OOMScore = 0
	}
	l.Group = ""
	return s
}

// start starts a command as a child that has them.
func (s *surroundings) start(c Command) (started, error) {
	s.rate(1)
	child, err := start(c)
	s.rate(-1)
	if err == nil && s.members != nil {
		// bwrap and the helper take so long to start that they join before the command.
		_, _ = s.members.WriteString(strconv.Itoa(child.ID().PID))
	}
	return child, err
}

// rate counts starts. A child has the score that its parent has.
func (s *surroundings) rate(more int) {
	if s.score == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.starting
	s.starting += more
	switch {
	case before == 0:
		_, _ = s.score.WriteAt([]byte(s.theirs), 0)
	case s.starting == 0:
		_, _ = s.score.WriteAt([]byte(s.mine), 0)
	}
}
