package process

import (
	"bytes"
	"slices"
	"strconv"
	"sync"
)

// sightings are the processes seen in a tree. A process may leave the session and clear
// the mark; then only its parent shows that it belongs to the tree, and the parent may
// end first. They are stored by process id, with their start.
type sightings struct {
	mu   sync.Mutex
	born map[int]string
}

// Follow records the current processes. Stop does so too; call it before the leader is asked
// to end in another way, after which nothing shows whose children the others are.
func (t *Tree) Follow() { t.family() }

// family lists the processes of the tree and all below them, and records them.
func (t *Tree) family() []int {
	t.seen.mu.Lock()
	defer t.seen.mu.Unlock()
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
		if len(fields) <= startTime {
			if born, ok := t.seen.born[pid]; ok {
				// If it can't be examined, it may still exist.
				known[pid] = born
			}
			continue
		}
		if fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		p := process{pid, fields[1], when(fields)}
		switch {
		case t.seen.born[pid] == p.born:
		case leader != "" && (fields[2] == leader || fields[3] == leader), t.marked(pid, fields):
		default:
			rest = append(rest, p)
			continue
		}
		inside[strconv.Itoa(pid)] = true
		family, known[pid] = append(family, pid), p.born
	}
	for grown := true; grown; {
		grown = false
		rest = slices.DeleteFunc(rest, func(p process) bool {
			if !inside[p.parent] {
				return false
			}
			inside[strconv.Itoa(p.pid)], grown = true, true
			family, known[p.pid] = append(family, p.pid), p.born
			return true
		})
	}
	t.seen.born = known
	return family
}

// marked says whether a process carries the tree's mark, as far as that is visible now.
func (t *Tree) marked(pid int, fields []string) bool {
	if leads(fields[3]) || pid < t.id.PID && t.before(fields) {
		return false
	}
	environ, err := readProc("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(environ, []byte(t.id.Mark))
}

// has says whether a process was seen; fields are from statOf.
func (s *sightings) has(pid int, fields []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.born[pid]
	return ok && len(fields) > startTime && when(fields) == known
}

// pids are those of all processes seen, including ended ones.
func (s *sightings) pids() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	pids := make([]int, 0, len(s.born))
	for pid := range s.born {
		pids = append(pids, pid)
	}
	return pids
}
