//go:build !linux

package triggers

import "errors"

// watcher watches nothing here: podd looks at the files again and again.
type watcher struct{}

func newWatcher() (*watcher, error) { return nil, errors.ErrUnsupported }

func (*watcher) close() error    { return nil }
func (*watcher) run()            {}
func (*watcher) unfollow(string) {}

func (*watcher) follow(string, []string, func(string, bool)) (bool, error) {
	return false, errors.ErrUnsupported
}
