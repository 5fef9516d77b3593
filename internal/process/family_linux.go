package process

import (
	"bytes"
	"slices"
	"strconv"
	"sync"
)

// strays are processes below the leader that left its session and cleared the mark. A
// parent is all that tells whose they are, and it may end before they do, so those that
// were seen once are remembered: by pid, when each was born.
type strays struct {
	mu   sync.Mutex
	born map[int]string
}

// follow takes note of the strays there are, before their parents are ended.
func (t *Tree) follow() { t.family() }

// family lists the processes of the tree and all below them, and takes note of strays.
func (t *Tree) family() []int {
	t.strays.mu.Lock()
	defer t.strays.mu.Unlock()
	inside := map[string]bool{}
	leader := ""
	if !t.recycled() {
		leader = strconv.Itoa(t.id.PID)
		inside[leader] = true
	}
	type process struct {
		pid          int
		parent, born string
	}
	var family []int
	var rest []process
	known := map[int]string{}
	for _, pid := range allPids() {
		fields := statOf(pid)
		if len(fields) <= startTime || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		p := process{pid, fields[1], when(fields)}
		switch {
		case t.strays.born[pid] == p.born:
			known[pid] = p.born
		case leader != "" && (fields[2] == leader || fields[3] == leader), t.marked(pid):
		default:
			rest = append(rest, p)
			continue
		}
		inside[strconv.Itoa(pid)] = true
		family = append(family, pid)
	}
	for grown := true; grown; {
		grown = false
		rest = slices.DeleteFunc(rest, func(p process) bool {
			if !inside[p.parent] {
				return false
			}
			inside[strconv.Itoa(p.pid)], grown = true, true
			family = append(family, p.pid)
			known[p.pid] = p.born
			return true
		})
	}
	t.strays.born = known
	return family
}

// marked says whether a process carries the tree's mark, as far as it can be seen now.
func (t *Tree) marked(pid int) bool {
	if pid < t.id.PID {
		return false
	}
	environ, err := readProc("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(environ, []byte(t.id.Mark))
}

// has says whether a process is a stray that was seen; fields are those of statOf.
func (s *strays) has(pid int, fields []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.born[pid]
	return ok && len(fields) > startTime && when(fields) == known
}

// pids are those of the strays that were seen, ended ones too.
func (s *strays) pids() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	pids := make([]int, 0, len(s.born))
	for pid := range s.born {
		pids = append(pids, pid)
	}
	return pids
}
