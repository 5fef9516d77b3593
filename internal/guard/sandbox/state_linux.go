package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"podd/internal/commands/enter"
)

// inodeOf tells an open file apart from others that exist.
func inodeOf(file *os.File) string {
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		return err.Error()
	}
	return inode(&stat)
}

func inode(stat *unix.Stat_t) string {
	return fmt.Sprintf("%d:%d:%o", stat.Dev, stat.Ino, stat.Mode&unix.S_IFMT)
}

// inodeAt is that of what is at a path now, links not followed.
func inodeAt(path string) string {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return err.Error()
	}
	return inode(&stat)
}

// state is all that bwrap's mounts are made from: its options, and what is at each path that they
// name or that is mounted on. A mount holds what it is on: as long as it is there, nothing else
// has its identity.
func (m *mounts) state(options []string) string {
	var b strings.Builder
	for _, option := range options {
		fmt.Fprintf(&b, "%q ", option)
	}
	for _, mount := range m.list {
		fmt.Fprintf(&b, "\n%q %s", mount.path, inodeAt(mount.path))
		for _, dir := range []string{"/tmp/", "/var/tmp/"} {
			if rest, below := strings.CutPrefix(mount.path, dir); below {
				b.WriteString(inodeAt(m.scope.Temp + "/" + rest))
			}
		}
		for i, arg := range mount.args {
			switch {
			case i == 0 || !strings.HasPrefix(mount.args[0], "--"):
				fmt.Fprintf(&b, " %q", arg)
			case i == 1 && mount.args[0] == "--ro-bind-data":
				// What it holds depends on the path alone.
			case i == 1 && strings.HasSuffix(mount.args[0], "-fd"):
				b.WriteString(" " + inodeOf(m.command.numbered(arg)))
			case i == 1 && strings.HasPrefix(mount.args[0], "--ro-bind"):
				fmt.Fprintf(&b, " %q %s", arg, inodeAt(arg))
			default:
				fmt.Fprintf(&b, " %q", arg)
			}
		}
	}
	for _, on := range m.on {
		b.WriteString("\n" + on)
	}
	return b.String()
}

// plan is what a command does in a copy of the mounts: it mounts every directory in memory anew,
// and in it what was mounted there. It is not ok if that is not clear.
func (m *mounts) plan() (changes []enter.Mount, ok bool) {
	kinds := map[string]string{}
	for i, mount := range m.list {
		change := enter.Mount{Kind: enter.Keep, Path: mount.path, Size: mount.size, Below: m.emptyAround(i)}
		switch {
		case mount.empty():
			change.Kind = enter.Empty
		case change.Below == "" || mount.args[0] == "--ro-bind-try" && !exists(mount.path):
			continue
		case mount.args[0] == "--ro-bind-data":
			// bwrap has removed the file that it mounted, so that it cannot be mounted again.
			change.Kind, change.File = enter.Nothing, true
		case !strings.HasPrefix(mount.args[0], "--ro-bind") && !strings.HasPrefix(mount.args[0], "--bind"):
			return nil, false
		default:
			change.File = !isDir(mount.path)
		}
		if kind := kinds[mount.path]; kind != "" && kind != change.Kind {
			return nil, false
		} else if kind == "" {
			changes = append(changes, change)
		}
		kinds[mount.path] = change.Kind
	}
	return changes, true
}

// empty says whether a mount is an empty directory in memory.
func (m mount) empty() bool { return slices.Contains(m.args, "--tmpfs") }

// emptyAround is the innermost mount around the i-th, if that is an empty directory.
func (m *mounts) emptyAround(i int) string {
	var around mount
	for _, other := range m.list[:i] {
		if other.path != m.list[i].path && within(other.path, m.list[i].path) && len(other.path) >= len(around.path) {
			around = other
		}
	}
	if !around.empty() {
		return ""
	}
	return around.path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
